package import Logging
import Platform

/// A store that logs its operations: changes at level info, reads and failures at level debug.
package struct LoggingStore: ForwardingStore {
  /// The wrapped store.
  package let base: any ObjectStore
  private let logger: Logger
  private let now: @Sendable () -> ContinuousClock.Instant

  /// Wraps a store.
  ///
  /// - Parameters:
  ///   - base: The wrapped store.
  ///   - logger: Logs each operation.
  ///   - now: The clock for durations.
  package init(
    _ base: any ObjectStore, _ logger: Logger,
    now: @escaping @Sendable () -> ContinuousClock.Instant = { ContinuousClock.now }
  ) {
    self.base = base
    self.logger = logger
    self.now = now
  }

  /// The store, wrapped if the logger's level includes its operations.
  package static func wrapping(_ store: any ObjectStore, _ logger: Logger) -> any ObjectStore {
    logger.logLevel <= .info ? LoggingStore(store, logger) : store
  }

  /// See ``ObjectStore/put(_:_:)``.
  package func put(_ key: String, _ body: [UInt8]) async throws -> PutReceipt {
    try await logged("put \(key)", .info) {
      try await base.put(key, body)
    } result: {
      "\(body.count) B\($0.provesContent ? ", checksum confirmed" : "")"
    }
  }

  /// See ``ObjectStore/putIfAbsent(_:_:)``.
  package func putIfAbsent(_ key: String, _ body: [UInt8]) async throws -> PutReceipt {
    try await logged("put if absent \(key)", .info) {
      try await base.putIfAbsent(key, body)
    } result: { _ in
      "\(body.count) B"
    }
  }

  /// See ``ObjectStore/get(_:range:)``.
  package func get(_ key: String, range: ByteRange?) async throws -> [UInt8] {
    let part = range.flatMap(\.header).map { " \($0)" } ?? ""
    return try await logged("get \(key)\(part)", .debug) {
      try await base.get(key, range: range)
    } result: {
      "\($0.count) B"
    }
  }

  /// See ``ObjectStore/head(_:)``.
  package func head(_ key: String) async throws -> ObjectEntry {
    try await logged("head \(key)", .debug) {
      try await base.head(key)
    } result: {
      "\($0.size) B"
    }
  }

  /// See ``ObjectStore/list(_:after:)``.
  package func list(_ prefix: String, after token: String?) async throws -> ListPage {
    try await logged("list \(prefix.isEmpty ? "/" : prefix)", .debug) {
      try await base.list(prefix, after: token)
    } result: {
      let more = $0.next == nil ? "" : ", more to come"
      return "\($0.objects.count) objects, \($0.directories.count) folders\(more)"
    }
  }

  /// See ``ObjectStore/delete(_:)``; one line per key.
  package func delete(_ keys: [String]) async throws -> [DeleteOutcome] {
    guard !keys.isEmpty else { return [] }
    let outcomes = try await logged("delete \(keys.count) objects", .debug) {
      try await base.delete(keys)
    } result: {
      "\($0.count { $0.error != nil }) failed"
    }
    for outcome in outcomes {
      if let error = outcome.error {
        logger.info("delete \(outcome.key) failed: \(error)")
      } else {
        logger.info("delete \(outcome.key)")
      }
    }
    return outcomes
  }

  private func logged<Result>(
    _ operation: String, _ level: Logger.Level, _ body: () async throws -> Result,
    result describe: (Result) -> String
  ) async throws -> Result {
    let start = now()
    do {
      let result = try await body()
      logger.log(
        level: level, "\(operation): \(describe(result)), \((now() - start).millisecondsText)")
      return result
    } catch {
      logger.debug("\(operation) failed: \(error), \((now() - start).millisecondsText)")
      throw error
    }
  }
}

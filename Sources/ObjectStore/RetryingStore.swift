import Foundation
import HTTPTransport
package import Logging
import Platform

/// A store that retries transient failures: the only place where that is done.
///
/// `putIfAbsent` is not retried: an attempt that seemed to fail may have stored the object.
package struct RetryingStore: ForwardingStore {
  /// The wrapped store.
  package let base: any ObjectStore
  private let policy: RetryPolicy
  private let logger: Logger
  private let sleep: @Sendable (Duration) async throws -> Void
  private let random: @Sendable () -> Double
  private let now: @Sendable () -> ContinuousClock.Instant

  /// Wraps a store.
  ///
  /// - Parameters:
  ///   - base: The wrapped store.
  ///   - policy: How to retry.
  ///   - logger: Logs each failed attempt.
  ///   - sleep: Waits, and throws when the task is cancelled.
  ///   - random: A number from 0 up to 1.
  ///   - now: The clock that bounds the elapsed time.
  package init(
    _ base: any ObjectStore, policy: RetryPolicy = RetryPolicy(), logger: Logger = .off,
    sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) },
    random: @escaping @Sendable () -> Double,
    now: @escaping @Sendable () -> ContinuousClock.Instant = { ContinuousClock.now }
  ) {
    self.base = base
    self.policy = policy
    self.logger = logger
    self.sleep = sleep
    self.random = random
    self.now = now
  }

  /// See ``ObjectStore/put(_:_:)``.
  package func put(_ key: String, _ body: [UInt8]) async throws -> PutReceipt {
    try await attempt("PUT", key) { try await base.put(key, body) }
  }

  /// See ``ObjectStore/get(_:range:)``.
  package func get(_ key: String, range: ByteRange?) async throws -> [UInt8] {
    try await attempt("GET", key) { try await base.get(key, range: range) }
  }

  /// See ``ObjectStore/head(_:)``.
  package func head(_ key: String) async throws -> ObjectEntry {
    try await attempt("HEAD", key) { try await base.head(key) }
  }

  /// See ``ObjectStore/list(_:after:)``.
  package func list(_ prefix: String, after token: String?) async throws -> ListPage {
    try await attempt("LIST", prefix) { try await base.list(prefix, after: token) }
  }

  /// See ``ObjectStore/delete(_:)``; only the keys that failed are retried.
  package func delete(_ keys: [String]) async throws -> [DeleteOutcome] {
    var outcomes = try await attempt("DELETE", keys.first ?? "") { try await base.delete(keys) }
    var pending = outcomes.indices.filter { outcomes[$0].error?.isTransient == true }
    guard !pending.isEmpty else { return outcomes }
    do {
      _ = try await attempt("DELETE", keys.first ?? "", firstFailure: outcomes[pending[0]].error) {
        let again = try await base.delete(pending.map { outcomes[$0].key })
        for (index, outcome) in zip(pending, again) { outcomes[index] = outcome }
        pending = pending.filter { outcomes[$0].error?.isTransient == true }
        if let first = pending.first, let error = outcomes[first].error { throw error }
      }
    } catch let error as StoreError where error.code == .cancelled {
      throw error
    } catch is StoreError {
      // Each key's own outcome gives its result.
    }
    return outcomes
  }

  private func attempt<Result>(
    _ operation: String, _ key: String, firstFailure: StoreError? = nil,
    _ body: () async throws -> Result
  ) async throws -> Result {
    let start = now()
    var slept = Duration.zero
    var attempts = 0
    var failure = firstFailure
    if firstFailure != nil { attempts = 1 }
    while true {
      if let failure {
        // Count pauses by their requested length: in tests, sleeping may take no time.
        let elapsed = max(now() - start, slept)
        guard
          let pause = policy.pause(
            attempt: attempts, elapsed: elapsed, error: failure, random: random())
        else {
          if attempts > 1 { logger.warning("\(operation) \(key) failed \(attempts) times") }
          throw failure
        }
        logger.warning(
          "attempt \(attempts) of \(operation) \(key) failed; next in \(Self.text(pause)): \(failure)"
        )
        do {
          try await sleep(pause)
        } catch {
          throw cancelled(operation, key)
        }
        slept += pause
      }
      guard !Task.isCancelled else { throw cancelled(operation, key) }
      do {
        return try await body()
      } catch let error as StoreError {
        failure = error
        attempts += 1
      } catch is CancellationError {
        throw cancelled(operation, key)
      }
    }
  }

  private static func text(_ pause: Duration) -> String {
    String(format: "%.1f s", pause / .seconds(1))
  }

  private func cancelled(_ operation: String, _ key: String) -> StoreError {
    StoreError(
      .cancelled, operation: operation, target: "\(location)/\(key)",
      response: "the request was cancelled")
  }
}

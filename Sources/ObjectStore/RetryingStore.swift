import Foundation

/// A store that tries again what is transient: the one place where that is done.
package struct RetryingStore: ObjectStore {
  private let store: any ObjectStore
  private let policy: RetryPolicy
  private let sleep: @Sendable (Duration) async throws -> Void
  private let random: @Sendable () -> Double
  private let now: @Sendable () -> ContinuousClock.Instant

  /// Wraps a store.
  ///
  /// - Parameters:
  ///   - store: What does the work.
  ///   - policy: How often to try.
  ///   - sleep: Waits, and throws when the task is cancelled.
  ///   - random: A number from 0 up to 1.
  ///   - now: The clock that bounds the elapsed time.
  package init(
    _ store: any ObjectStore, policy: RetryPolicy = RetryPolicy(),
    sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) },
    random: @escaping @Sendable () -> Double = { Double.random(in: 0..<1) },
    now: @escaping @Sendable () -> ContinuousClock.Instant = { ContinuousClock.now }
  ) {
    self.store = store
    self.policy = policy
    self.sleep = sleep
    self.random = random
    self.now = now
  }

  /// The wrapped store's location.
  package var location: String { store.location }

  /// See ``ObjectStore/put(_:_:)``.
  package func put(_ key: String, _ body: [UInt8]) async throws -> PutReceipt {
    try await attempt("PUT", key) { try await store.put(key, body) }
  }

  /// See ``ObjectStore/putIfAbsent(_:_:)``.
  ///
  /// Not tried again: an attempt that seemed to fail may be what is there then.
  package func putIfAbsent(_ key: String, _ body: [UInt8]) async throws -> PutReceipt {
    try await store.putIfAbsent(key, body)
  }

  /// See ``ObjectStore/get(_:range:)``.
  package func get(_ key: String, range: ByteRange?) async throws -> [UInt8] {
    try await attempt("GET", key) { try await store.get(key, range: range) }
  }

  /// See ``ObjectStore/head(_:)``.
  package func head(_ key: String) async throws -> ObjectEntry {
    try await attempt("HEAD", key) { try await store.head(key) }
  }

  /// See ``ObjectStore/list(_:after:)``.
  package func list(_ prefix: String, after token: String?) async throws -> ListPage {
    try await attempt("LIST", prefix) { try await store.list(prefix, after: token) }
  }

  /// See ``ObjectStore/delete(_:)``; only the keys that failed are tried again.
  package func delete(_ keys: [String]) async throws -> [DeleteOutcome] {
    var outcomes = try await attempt("DELETE", keys.first ?? "") { try await store.delete(keys) }
    var pending = outcomes.indices.filter { outcomes[$0].error?.isTransient == true }
    guard !pending.isEmpty else { return outcomes }
    do {
      _ = try await attempt("DELETE", keys.first ?? "", firstFailure: outcomes[pending[0]].error) {
        let again = try await store.delete(pending.map { outcomes[$0].key })
        for (index, outcome) in zip(pending, again) { outcomes[index] = outcome }
        pending = pending.filter { outcomes[$0].error?.isTransient == true }
        if let first = pending.first, let error = outcomes[first].error { throw error }
      }
    } catch let error as StoreError where error.code == .cancelled {
      throw error
    } catch is StoreError {
      // Each key's own outcome says what became of it.
    }
    return outcomes
  }

  private func attempt<Result>(
    _ operation: String, _ key: String, firstFailure: StoreError? = nil,
    _ body: () async throws -> Result
  ) async throws -> Result {
    let start = now()
    var slept: TimeInterval = 0
    var attempts = 0
    var failure = firstFailure
    if firstFailure != nil { attempts = 1 }
    while true {
      if let failure {
        // The pauses are counted by their asked length: the sleep may be a test's.
        let elapsed = max(seconds(now() - start), slept)
        guard
          let pause = policy.pause(
            attempt: attempts, elapsed: elapsed, error: failure, random: random())
        else { throw failure }
        do {
          try await sleep(.seconds(pause))
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

  private func cancelled(_ operation: String, _ key: String) -> StoreError {
    StoreError(
      .cancelled, operation: operation, target: "\(location)/\(key)",
      response: "the request was cancelled")
  }

  private func seconds(_ duration: Duration) -> TimeInterval {
    Double(duration.components.seconds) + Double(duration.components.attoseconds) * 1e-18
  }
}

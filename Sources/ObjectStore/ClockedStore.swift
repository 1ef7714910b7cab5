/// A store whose answers tell a ``ServerClock`` the time.
package struct ClockedStore: ObjectStore {
  private let store: any ObjectStore
  private let clock: ServerClock
  private let now: @Sendable () -> Int64

  /// Wraps a store.
  ///
  /// - Parameters:
  ///   - store: What does the work.
  ///   - clock: Hears of each date.
  ///   - now: Our clock, in milliseconds since 1970.
  package init(
    _ store: any ObjectStore, _ clock: ServerClock, now: @escaping @Sendable () -> Int64
  ) {
    self.store = store
    self.clock = clock
    self.now = now
  }

  /// The wrapped store's location.
  package var location: String { store.location }

  /// See ``ObjectStore/put(_:_:)``.
  package func put(_ key: String, _ body: [UInt8]) async throws -> PutReceipt {
    let sent = now()
    let receipt = try await store.put(key, body)
    if let date = receipt.serverDate { clock.note(date, sent: sent, received: now()) }
    return receipt
  }

  /// See ``ObjectStore/putIfAbsent(_:_:)``.
  package func putIfAbsent(_ key: String, _ body: [UInt8]) async throws -> PutReceipt {
    try await store.putIfAbsent(key, body)
  }

  /// See ``ObjectStore/get(_:range:)``.
  package func get(_ key: String, range: ByteRange?) async throws -> [UInt8] {
    try await store.get(key, range: range)
  }

  /// See ``ObjectStore/head(_:)``.
  package func head(_ key: String) async throws -> ObjectEntry { try await store.head(key) }

  /// See ``ObjectStore/list(_:after:)``.
  package func list(_ prefix: String, after token: String?) async throws -> ListPage {
    let sent = now()
    let page = try await store.list(prefix, after: token)
    if let date = page.serverDate { clock.note(date, sent: sent, received: now()) }
    return page
  }

  /// See ``ObjectStore/delete(_:)``.
  package func delete(_ keys: [String]) async throws -> [DeleteOutcome] {
    try await store.delete(keys)
  }
}

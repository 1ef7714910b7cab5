package import Platform

/// A store whose answers feed a ``ServerClock``.
package struct ClockedStore: ForwardingStore {
  /// The wrapped store.
  package let base: any ObjectStore
  private let clock: ServerClock
  private let now: @Sendable () -> Timestamp

  /// Wraps a store.
  ///
  /// - Parameters:
  ///   - base: The wrapped store.
  ///   - clock: Receives each date.
  ///   - now: The local clock.
  package init(
    _ base: any ObjectStore, _ clock: ServerClock, now: @escaping @Sendable () -> Timestamp
  ) {
    self.base = base
    self.clock = clock
    self.now = now
  }

  /// A store whose answers feed a clock; the store itself if it is a folder, which has no clock of
  /// its own.
  package static func wrapping(
    _ store: any ObjectStore, _ clock: ServerClock, now: @escaping @Sendable () -> Timestamp
  ) -> any ObjectStore {
    store.isFolder ? store : ClockedStore(store, clock, now: now)
  }

  /// See ``ObjectStore/put(_:_:)``.
  package func put(_ key: String, _ body: [UInt8]) async throws -> PutReceipt {
    let sent = now()
    let receipt = try await base.put(key, body)
    if let date = receipt.serverDate { clock.record(date, sent: sent, received: now()) }
    return receipt
  }

  /// See ``ObjectStore/list(_:after:)``.
  package func list(_ prefix: String, after token: String?) async throws -> ListPage {
    let sent = now()
    let page = try await base.list(prefix, after: token)
    if let date = page.serverDate { clock.record(date, sent: sent, received: now()) }
    return page
  }
}

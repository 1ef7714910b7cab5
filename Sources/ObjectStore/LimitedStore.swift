package import Platform

/// A store that limits the total number of bytes sent.
package struct LimitedStore: ForwardingStore {
  /// The wrapped store.
  package let base: any ObjectStore
  private let limit: ByteCount
  private let sent = Guarded<ByteCount>(0)

  /// Wraps a store.
  ///
  /// - Parameters:
  ///   - base: the wrapped store.
  ///   - limit: maximum sum of all bodies sent.
  package init(_ base: any ObjectStore, bytes limit: ByteCount) {
    (self.base, self.limit) = (base, limit)
  }

  /// See ``ObjectStore/put(_:_:)``.
  package func put(_ key: String, _ body: [UInt8]) async throws -> PutReceipt {
    try count(body, key)
    return try await base.put(key, body)
  }

  /// See ``ObjectStore/putIfAbsent(_:_:)``.
  package func putIfAbsent(_ key: String, _ body: [UInt8]) async throws -> PutReceipt {
    try count(body, key)
    return try await base.putIfAbsent(key, body)
  }

  private func count(_ body: [UInt8], _ key: String) throws {
    let isWithin = sent.withLock { sent in
      sent = [sent, ByteCount(body.count)].total
      return sent <= limit
    }
    guard isWithin else {
      throw StoreError(
        .exhausted, operation: "PUT", target: "\(location)/\(key)",
        response: "the \(limit.text) that one pass may send have been sent",
        advice: "The next pass continues.")
    }
  }
}

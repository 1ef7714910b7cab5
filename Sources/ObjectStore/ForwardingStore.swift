/// A store that forwards to another, and implements only what it changes.
///
/// Every requirement of ``ObjectStore`` is forwarded, `putIfAbsent` included: its default for
/// stores without conditional requests would hide what the wrapped store supports.
package protocol ForwardingStore: ObjectStore {
  /// The wrapped store.
  var base: any ObjectStore { get }
}

extension ForwardingStore {
  /// The wrapped store's location.
  package var location: String { base.location }

  /// Whether the wrapped store is on this machine.
  package var isOnThisMachine: Bool { base.isOnThisMachine }

  /// See ``ObjectStore/put(_:_:)``.
  package func put(_ key: String, _ body: [UInt8]) async throws -> PutReceipt {
    try await base.put(key, body)
  }

  /// See ``ObjectStore/putIfAbsent(_:_:)``.
  package func putIfAbsent(_ key: String, _ body: [UInt8]) async throws -> PutReceipt {
    try await base.putIfAbsent(key, body)
  }

  /// See ``ObjectStore/get(_:range:)``.
  package func get(_ key: String, range: ByteRange?) async throws -> [UInt8] {
    try await base.get(key, range: range)
  }

  /// See ``ObjectStore/head(_:)``.
  package func head(_ key: String) async throws -> ObjectEntry { try await base.head(key) }

  /// See ``ObjectStore/list(_:after:)``.
  package func list(_ prefix: String, after token: String?) async throws -> ListPage {
    try await base.list(prefix, after: token)
  }

  /// See ``ObjectStore/delete(_:)``.
  package func delete(_ keys: [String]) async throws -> [DeleteOutcome] {
    try await base.delete(keys)
  }
}

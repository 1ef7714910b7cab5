import Platform

/// Number of requests of each kind.
package struct RequestCounts: Sendable, Codable, Equatable {
  package var put = 0
  package var get = 0
  package var list = 0
  package var head = 0
  package var delete = 0

  /// No requests.
  package init() {}

  /// Adds other counts.
  package mutating func add(_ other: RequestCounts) {
    put += other.put
    get += other.get
    list += other.list
    head += other.head
    delete += other.delete
  }

  /// The counts by name, sorted.
  package var named: [(name: String, count: Int)] {
    [("delete", delete), ("get", get), ("head", head), ("list", list), ("put", put)]
  }
}

extension RequestCounts {
  /// Reads counts that were saved.
  package init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: FieldKey.self)
    put = try fields.decode(Int.self, forKey: "put")
    get = try fields.decode(Int.self, forKey: "get")
    list = try fields.decode(Int.self, forKey: "list")
    head = try fields.decode(Int.self, forKey: "head")
    delete = try fields.decode(Int.self, forKey: "delete")
  }
}

/// A store that counts requests; retries are not counted.
package final class CountingStore: ForwardingStore {
  /// The wrapped store.
  package let base: any ObjectStore
  private let counts = Guarded(RequestCounts())

  /// Wraps a store.
  package init(_ base: any ObjectStore) { self.base = base }

  /// The requests so far.
  package var requests: RequestCounts { counts.withLock { $0 } }

  /// See ``ObjectStore/put(_:_:)``.
  package func put(_ key: String, _ body: [UInt8]) async throws -> PutReceipt {
    counts.withLock { $0.put += 1 }
    return try await base.put(key, body)
  }

  /// See ``ObjectStore/putIfAbsent(_:_:)``.
  package func putIfAbsent(_ key: String, _ body: [UInt8]) async throws -> PutReceipt {
    counts.withLock { $0.put += 1 }
    return try await base.putIfAbsent(key, body)
  }

  /// See ``ObjectStore/get(_:range:)``.
  package func get(_ key: String, range: ByteRange?) async throws -> [UInt8] {
    counts.withLock { $0.get += 1 }
    return try await base.get(key, range: range)
  }

  /// See ``ObjectStore/head(_:)``.
  package func head(_ key: String) async throws -> ObjectEntry {
    counts.withLock { $0.head += 1 }
    return try await base.head(key)
  }

  /// See ``ObjectStore/list(_:after:)``.
  package func list(_ prefix: String, after token: String?) async throws -> ListPage {
    counts.withLock { $0.list += 1 }
    return try await base.list(prefix, after: token)
  }

  /// See ``ObjectStore/delete(_:)``.
  package func delete(_ keys: [String]) async throws -> [DeleteOutcome] {
    counts.withLock { $0.delete += 1 }
    return try await base.delete(keys)
  }
}

package import ObjectStore
import Platform
import Synchronization

/// A store in memory that counts reads.
package final class MemoryStore: ObjectStore {
  /// The reads of a store.
  package struct Traffic: Sendable, Equatable {
    /// GETs, ranged ones included.
    package var gets = 0
    /// Listings.
    package var lists = 0
    /// Bytes read of objects.
    package var bytes = 0
  }

  private struct State {
    var objects: [String: [UInt8]] = [:]
    var traffic = Traffic()
    var beforeGet: (@Sendable (String) -> Void)?
  }

  private let state = Mutex(State())

  /// Makes an empty one.
  package init() {}

  /// See `ObjectStore`.
  package var location: String { "memory:" }

  /// The keys of all objects.
  package var keys: [String] { state.withLock { $0.objects.keys.sorted() } }

  /// An object's bytes; nil removes it.
  package subscript(key: String) -> [UInt8]? {
    get { state.withLock { $0.objects[key] } }
    set { state.withLock { $0.objects[key] = newValue } }
  }

  /// Runs before each GET, with its key.
  package func beforeGet(_ body: (@Sendable (String) -> Void)?) {
    state.withLock { $0.beforeGet = body }
  }

  /// The reads so far; reading them resets the counts.
  package func takeTraffic() -> Traffic {
    state.withLock { state in
      defer { state.traffic = Traffic() }
      return state.traffic
    }
  }

  /// See `ObjectStore`.
  package func put(_ key: String, _ body: [UInt8]) async throws -> PutReceipt {
    self[key] = body
    return PutReceipt(provesContent: false, serverDate: nil)
  }

  /// See `ObjectStore`.
  package func get(_ key: String, range: ByteRange?) async throws -> [UInt8] {
    state.withLock { $0.beforeGet }?(key)
    return try state.withLock { state in
      state.traffic.gets += 1
      guard let object = state.objects[key] else { throw Self.notFound("GET", key) }
      if let refusal = range?.refusal(ofSize: ByteCount(object.count), key) { throw refusal }
      let part = range.map { $0.resolved(size: ByteCount(object.count)) } ?? 0..<Int64(object.count)
      state.traffic.bytes += part.count
      return Array(object[Int(part.lowerBound)..<Int(part.upperBound)])
    }
  }

  /// See `ObjectStore`.
  package func head(_ key: String) async throws -> ObjectEntry {
    guard let object = self[key] else { throw Self.notFound("HEAD", key) }
    return ObjectEntry(key: key, size: ByteCount(object.count), modified: nil)
  }

  /// See `ObjectStore`.
  package func list(_ prefix: String, after token: String?) async throws -> ListPage {
    state.withLock { state in
      state.traffic.lists += 1
      let found = state.objects.filter { $0.key.hasPrefix(prefix) }.sorted { $0.key < $1.key }
      return ListPage(
        objects: found.map {
          ObjectEntry(key: $0.key, size: ByteCount($0.value.count), modified: nil)
        }, directories: [], next: nil, serverDate: nil)
    }
  }

  /// See `ObjectStore`.
  package func delete(_ keys: [String]) async throws -> [DeleteOutcome] {
    for key in keys { self[key] = nil }
    return keys.map { DeleteOutcome(key: $0, error: nil) }
  }

  private static func notFound(_ operation: String, _ key: String) -> StoreError {
    StoreError(.notFound, operation: operation, target: key, response: "no such object")
  }
}

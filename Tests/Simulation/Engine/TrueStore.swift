import ObjectStore
import Platform
import Replica

/// The true content of the store, without faults: for the oracle.
struct TrueStore: ObjectStore {
  let objects: [String: ModelStore.Object]
  let location: String

  init(_ store: ModelStore) { (objects, location) = (store.stored, store.location) }

  func put(_ key: String, _ body: [UInt8]) async throws -> PutReceipt { throw refusal("PUT", key) }

  func get(_ key: String, range: ByteRange?) async throws -> [UInt8] {
    guard let object = objects[key] else { throw StoreError.missing("GET", key) }
    return try object.read(range, key)
  }

  func head(_ key: String) async throws -> ObjectEntry {
    guard let object = objects[key] else { throw StoreError.missing("HEAD", key) }
    return object.entry(key)
  }

  func list(_ prefix: String, after token: String?) async throws -> ListPage {
    ListPage(of: objects, prefix)
  }

  func delete(_ keys: [String]) async throws -> [DeleteOutcome] { throw refusal("DELETE", "") }

  private func refusal(_ operation: String, _ key: String) -> StoreError {
    StoreError(.unsupported, operation: operation, target: key, response: "the oracle only reads")
  }
}

extension StoreError {
  static func missing(_ operation: String, _ key: String) -> StoreError {
    StoreError(.notFound, operation: operation, target: key, response: "no such object")
  }
}

extension ModelStore.Object {
  func entry(_ key: String) -> ObjectEntry {
    ObjectEntry(
      key: key, size: ByteCount(bytes.count), modified: ServerTime(milliseconds: modified))
  }

  func read(_ range: ByteRange?, _ key: String) throws -> [UInt8] {
    let size = ByteCount(bytes.count)
    if let refusal = range?.refusal(ofSize: size, key) { throw refusal }
    let part = range?.resolved(size: size) ?? 0..<size.bytes
    return Array(bytes[Int(part.lowerBound)..<Int(part.upperBound)])
  }
}

extension ListPage {
  /// The objects that start with a prefix, without descending.
  init(of objects: [String: ModelStore.Object], _ prefix: String, serverDate: ServerTime? = nil) {
    var directories: Set<String> = []
    var entries: [ObjectEntry] = []
    for (key, object) in objects where key.hasPrefix(prefix) {
      let base = prefix.lastIndex(of: "/").map { prefix.index(after: $0) } ?? prefix.startIndex
      let start = key.index(
        key.startIndex, offsetBy: prefix.distance(from: prefix.startIndex, to: base))
      if let slash = key[start...].firstIndex(of: "/") {
        directories.insert(String(key[...slash]))
      } else {
        entries.append(object.entry(key))
      }
    }
    self.init(
      objects: entries.sorted { $0.key < $1.key }, directories: directories.sorted(), next: nil,
      serverDate: serverDate)
  }
}

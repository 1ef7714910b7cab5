import Foundation
import ObjectStore
import Platform
import Synchronization
import TestSupport

/// A store in memory with a server's clock, which counts requests.
final class TimedStore: ObjectStore {
  struct Requests: Equatable {
    var lists = 0
    var gets = 0
  }

  private struct State {
    /// Objects by folder, so that a listing reads only one.
    var folders: [String: [String: (bytes: [UInt8], modified: ServerTime)]] = [:]
    var requests = Requests()
    var isDown = false
  }

  private let state = Mutex(State())
  let clock: TestClock
  /// How far the server's clock is ahead.
  let offset: Duration

  init(_ clock: TestClock, offset: Duration = .zero) { (self.clock, self.offset) = (clock, offset) }

  var location: String { "s3://test" }

  var date: ServerTime { clock.now().asServer(offset: offset) }

  func takeRequests() -> Requests {
    state.withLock { state in
      defer { state.requests = Requests() }
      return state.requests
    }
  }

  /// Makes requests fail from now on, or succeed again.
  func setDown(_ isDown: Bool) { state.withLock { $0.isDown = isDown } }

  /// Writes an object; nil removes it.
  subscript(key: String) -> [UInt8]? {
    get { state.withLock { $0.folders[Self.folder(of: key)]?[key]?.bytes } }
    set {
      let date = date
      state.withLock {
        $0.folders[Self.folder(of: key), default: [:]][key] = newValue.map { ($0, date) }
      }
    }
  }

  private static func folder(of key: String) -> String {
    String(key[...(key.lastIndex(of: "/") ?? key.startIndex)])
  }

  var keys: [String] { state.withLock { $0.folders.values.flatMap(\.keys).sorted() } }

  private static func failure(_ code: StoreError.Code, _ key: String) -> StoreError {
    StoreError(code, operation: "GET", target: key, response: "no answer")
  }

  func put(_ key: String, _ body: [UInt8]) async throws -> PutReceipt {
    self[key] = body
    return PutReceipt(provesContent: true, serverDate: date)
  }

  func get(_ key: String, range: ByteRange?) async throws -> [UInt8] {
    try state.withLock { state in
      guard !state.isDown else { throw Self.failure(.unreachable, key) }
      state.requests.gets += 1
      guard let object = state.folders[Self.folder(of: key)]?[key]?.bytes else {
        throw Self.failure(.notFound, key)
      }
      if let refusal = range?.refusal(ofSize: ByteCount(object.count), key) { throw refusal }
      let part = range.map { $0.resolved(size: ByteCount(object.count)) } ?? 0..<Int64(object.count)
      return Array(object[Int(part.lowerBound)..<Int(part.upperBound)])
    }
  }

  func head(_ key: String) async throws -> ObjectEntry {
    throw Self.failure(.unsupported, key)
  }

  func list(_ prefix: String, after token: String?) async throws -> ListPage {
    let date = date
    return try state.withLock { state in
      guard !state.isDown else { throw Self.failure(.unreachable, prefix) }
      state.requests.lists += 1
      var page = ListPage(serverDate: ServerTime(milliseconds: date.milliseconds / 1000 * 1000))
      var folders: Set<String> = []
      for folder in state.folders.keys where folder.hasPrefix(prefix) && folder != prefix {
        folders.insert(prefix + folder.dropFirst(prefix.count).prefix { $0 != "/" } + "/")
      }
      for (key, object) in state.folders[prefix] ?? [:] {
        page.objects.append(
          ObjectEntry(key: key, size: ByteCount(object.bytes.count), modified: object.modified))
      }
      page.objects.sort { $0.key < $1.key }
      page.directories = folders.sorted()
      return page
    }
  }

  func delete(_ keys: [String]) async throws -> [DeleteOutcome] {
    for key in keys { self[key] = nil }
    return keys.map { DeleteOutcome(key: $0) }
  }
}

package import Platform

/// A store of named, immutable byte strings below one prefix.
///
/// Keys are relative to the store's prefix, made of `[A-Za-z0-9._/-]`, with no empty, `.` or `..`
/// segment. A store may be used from many tasks at once. Every method throws `StoreError`, and
/// `StoreError.Code.cancelled` when the task was cancelled.
package protocol ObjectStore: Sendable {
  /// The store's URL without credentials, for messages and as a cache key.
  var location: String { get }

  /// Whether the store is known to be on this machine: then its clock proves nothing about ours.
  ///
  /// By its URL; over HTTP also by where answers came from.
  var isOnThisMachine: Bool { get }

  /// Stores a body under a key, replacing an existing object.
  ///
  /// May be called again with the same key and bytes: an error does not prove that nothing was
  /// stored, and repeating the call repairs a truncated upload.
  func put(_ key: String, _ body: [UInt8]) async throws -> PutReceipt

  /// Stores a body under a key unless the key exists.
  ///
  /// Throws `conflict` if it exists, and `unsupported` if the store does not know such a request.
  /// Some servers accept it and overwrite the object all the same: rely on it only after a probe.
  func putIfAbsent(_ key: String, _ body: [UInt8]) async throws -> PutReceipt

  /// Reads an object, or a part of it.
  ///
  /// A range that extends past the end returns the bytes up to the end; one that starts at or after
  /// the end returns none. A missing object throws `notFound`.
  func get(_ key: String, range: ByteRange?) async throws -> [UInt8]

  /// Describes one object.
  ///
  /// A missing object throws `notFound`.
  func head(_ key: String) async throws -> ObjectEntry

  /// Lists one page of the names that start with a prefix, without descending.
  ///
  /// The prefix is empty, `dir/`, or `dir/start-of-name`. Objects are returned in `objects`,
  /// folders one level down in `directories`. A folder that does not exist is an empty page. Names
  /// with characters that no key has are omitted: they are not ours.
  ///
  /// - Parameters:
  ///   - prefix: The start of the keys.
  ///   - token: The previous page's `next`, or nil for the first page.
  func list(_ prefix: String, after token: String?) async throws -> ListPage

  /// Deletes any number of objects; a missing one counts as deleted.
  ///
  /// Folders are never deleted: another device may be filling one that was just listed as empty. A
  /// store may remove an empty folder only by a call that fails if the folder is not empty.
  ///
  /// Returns one outcome per key, in the order of `keys`. Throws only if no key's outcome is known
  /// (cancelled, login refused, unreachable); the whole call may then be repeated.
  func delete(_ keys: [String]) async throws -> [DeleteOutcome]
}

extension ObjectStore {
  /// Whether the URL names this machine.
  package var isOnThisMachine: Bool { StoreURL.isOnThisMachine(location) }

  /// Whether the store is a folder of this machine, perhaps a mounted share: there, checking costs
  /// no request, and an unmounted share looks like an empty store.
  package var isFolder: Bool { location.hasPrefix("file:") }

  /// Throws `unsupported`: the store does not know such a request.
  package func putIfAbsent(_ key: String, _ body: [UInt8]) async throws -> PutReceipt {
    throw StoreError(
      .unsupported, operation: "PUT", target: "\(location)/\(key)",
      response: "no conditional requests")
  }

  /// Reads a whole object of at most 64 MiB.
  ///
  /// A missing object throws `notFound`, a larger one `integrity`.
  package func get(_ key: String) async throws -> [UInt8] {
    try await get(key, atMost: 64 << 20)
  }

  /// Reads a whole object of at most a given size; the size in a listing is not trusted.
  ///
  /// A missing object throws `notFound`, a larger one `integrity`.
  package func get(_ key: String, atMost limit: ByteCount) async throws -> [UInt8] {
    try await get(key, range: .whole(atMost: limit))
  }

  /// Lists all pages of a prefix as one.
  ///
  /// Throws `integrity` if the store contradicts itself: a repeated page token or name, or pages
  /// without an end. `serverDate` is that of the first page.
  package func listAll(_ prefix: String) async throws -> ListPage {
    var all = try await list(prefix, after: nil)
    var tokens: Set<String> = []
    var checked = 0
    while let token = all.next {
      guard tokens.insert(token).inserted else { throw distrust("a page token came twice") }
      guard tokens.count <= all.count + 1000, all.count < ListPage.most else {
        throw distrust("a listing without an end")
      }
      // A server that repeats names may do so for ever.
      if all.count >= 2 * checked {
        guard !all.hasRepeatedNames else { throw distrust("a name came twice") }
        checked = all.count
      }
      all.append(try await list(prefix, after: token))
    }
    guard !all.hasRepeatedNames else { throw distrust("a name came twice") }
    return all
  }

  private func distrust(_ what: String) -> StoreError {
    StoreError(
      .integrity, operation: "LIST", target: location, response: what,
      advice: "The listing cannot be trusted; check the server behind this store.")
  }
}

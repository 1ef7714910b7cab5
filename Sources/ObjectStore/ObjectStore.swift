package import Platform

/// A place where objects live: named, immutable byte strings below one prefix.
///
/// Keys are relative to the store's prefix, made of `[A-Za-z0-9._/-]`, with no empty, `.` or `..`
/// segment. A store may be used from many tasks at once. Every method throws `StoreError`, and
/// `StoreError.Code.cancelled` when the task was cancelled.
package protocol ObjectStore: Sendable {
  /// The store's URL without credentials, for messages and as a cache key.
  var location: String { get }

  /// Stores a body under a key, replacing what was there.
  ///
  /// May be called again with the same key and bytes: an error does not prove that nothing was
  /// stored, and a cut upload is repaired by repeating the call.
  func put(_ key: String, _ body: [UInt8]) async throws -> PutReceipt

  /// Stores a body under a key unless something is there.
  ///
  /// Throws `conflict` when something is, and `unsupported` where the store does not know such a
  /// request. Some servers take it and replace what is there all the same: nothing may rest on it
  /// that was not found out by trying.
  func putIfAbsent(_ key: String, _ body: [UInt8]) async throws -> PutReceipt

  /// Reads an object, or a part of it.
  ///
  /// A range that reaches past the end gives what there is; one that starts at or after the end
  /// gives no bytes. A missing object throws `notFound`.
  func get(_ key: String, range: ByteRange?) async throws -> [UInt8]

  /// Describes one object.
  ///
  /// A missing object throws `notFound`.
  func head(_ key: String) async throws -> ObjectEntry

  /// Lists, without descending, one page of what starts with a prefix.
  ///
  /// The prefix is empty, `dir/`, or `dir/start-of-name`. Objects come in `objects`, folders one
  /// level down in `directories`. A folder that does not exist is an empty page. Names with
  /// characters that no key has are left out: they belong to somebody else.
  ///
  /// - Parameters:
  ///   - prefix: What the keys start with.
  ///   - token: The `next` of the page before, or nil for the first page.
  func list(_ prefix: String, after token: String?) async throws -> ListPage

  /// Deletes any number of objects; one that is missing counts as deleted.
  ///
  /// Folders are never deleted: another device may be filling one that was just listed as empty. A
  /// store may let go of an empty folder only by a call that fails when the folder holds something.
  ///
  /// Returns one outcome per key, in the order of `keys`. Throws only when nothing can be said of
  /// any key (cancelled, refused login, unreachable); everything it did may then be repeated.
  func delete(_ keys: [String]) async throws -> [DeleteOutcome]
}

extension ObjectStore {
  /// Whether the store is a folder of this machine, perhaps a mounted share: there a look costs no
  /// request, and an unmounted one looks like an empty store.
  package var isFolder: Bool { location.hasPrefix("file:") }

  /// Refuses: the store does not know such a request.
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

  /// Reads a whole object that may not be larger than a limit, whatever a listing said.
  ///
  /// A missing object throws `notFound`, a larger one `integrity`.
  package func get(_ key: String, atMost limit: ByteCount) async throws -> [UInt8] {
    try await get(key, range: .whole(atMost: limit))
  }

  /// Lists all pages of a prefix as one.
  ///
  /// Throws `integrity` when the store contradicts itself: a page token or a name that comes twice,
  /// pages without an end. `serverDate` is that of the first page.
  package func listAll(_ prefix: String) async throws -> ListPage {
    var all = try await list(prefix, after: nil)
    var tokens: Set<String> = []
    while let token = all.next {
      guard tokens.insert(token).inserted else { throw distrust("a page token came twice") }
      guard tokens.count <= all.count + 1000, all.count < ListPage.most else {
        throw distrust("a listing without an end")
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

package import ObjectStore
package import Platform
package import SessionLog

/// All sessions of one folder in a listing.
package struct FolderListing: Sendable {
  /// The sessions by id.
  package let sessions: [SessionID: RemoteSession]
  /// The server's time of the answer.
  package let serverDate: ServerTime?

  /// Lists a folder, or one session's objects in it.
  ///
  /// - Parameters:
  ///   - folder: the folder; a missing one is empty.
  ///   - session: restricts the listing to this session if the store can filter.
  ///   - store: the store.
  /// - Throws: ``ObjectStore/StoreError``.
  package init(
    _ folder: SessionFolder, session: SessionID? = nil, in store: any ObjectStore
  ) async throws {
    let prefix = folder.key + (session.map { "\($0)." } ?? "")
    let page = try await store.listAll(prefix)
    var sessions: [SessionID: RemoteSession] = [:]
    var last: SessionID?
    for object in page.objects {
      let fileName = String(Substring(object.key.utf8.dropFirst(folder.key.utf8.count)))
      guard let id = Self.session(of: fileName, likely: last), id.day == folder.day
      else { continue }
      last = id
      sessions[id, default: RemoteSession(folder: folder, session: id)]
        .add(object, fileName: fileName)
    }
    for id in sessions.keys { sessions[id]?.sort() }
    self.sessions = sessions
    serverDate = page.serverDate
  }

  /// The session whose object has a name.
  ///
  /// - Parameter likely: the session of the previous name: listings are sorted by name.
  private static func session(of fileName: String, likely: SessionID?) -> SessionID? {
    guard let dot = fileName.utf8.firstIndex(of: UInt8(ascii: ".")) else { return nil }
    let text = fileName[..<dot]
    if let likely, text == likely.description { return likely }
    return SessionID(String(text))
  }

  /// Lists all folders of devices, several at once.
  ///
  /// - Parameters:
  ///   - devices: their ids.
  ///   - store: the store.
  ///   - isWanted: whether to list a folder.
  ///   - body: called with each listing, device by device in the given order and day by day.
  /// - Throws: ``ObjectStore/StoreError``; errors of `body`.
  package static func forEach(
    of devices: [String], in store: any ObjectStore,
    where isWanted: (SessionFolder) -> Bool = { _ in true },
    _ body: (FolderListing) async throws -> Void
  ) async throws {
    try await SessionFolder.all(of: devices, in: store).filter(isWanted).concurrentForEach(
      { try await FolderListing($0, in: store) }, body)
  }

  /// A session in the folder, perhaps without objects.
  package subscript(session: SessionID, in folder: SessionFolder) -> RemoteSession {
    sessions[session] ?? RemoteSession(folder: folder, session: session)
  }
}

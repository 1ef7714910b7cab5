package import ObjectStore
package import Platform
package import Replica
package import SessionLog

/// Mirrors remote sessions into a folder as plain files, `<device>/<day>/<session>.log` and `.json`.
///
/// The files themselves say what is still to be fetched: a log's length how far it has come, a
/// sidecar's hash which revision it is. So an append costs its suffix, and an unchanged session
/// nothing but its part of the day's listing.
///
/// A mirror only grows: a log is never replaced by a shorter one. Where a store shows less than the
/// mirror has, the session's files stay as they are, and that is an error.
package struct Puller: Sendable {
  /// One session of which the mirror lacks something.
  package struct Item: Sendable {
    /// The session as a listing showed it.
    package let remote: RemoteSession
    /// Length that the log will have, in bytes.
    package let length: StreamOffset
    /// Length of the mirror's log in bytes, of whatever generation it is.
    let held: StreamOffset
    /// The generation that the mirror's log is of.
    let heldGeneration: Int
    /// Whether the mirror has a sidecar that ends the session.
    let isHeldSealed: Bool
    /// Whether the mirror has another sidecar, or none.
    package let lacksSidecar: Bool

    /// Length of what it has of the log, in bytes; 0 where that is of another generation.
    package var present: StreamOffset { heldGeneration == remote.generation ? held : .zero }

    /// Bytes of the log to fetch.
    package var missing: ByteCount { max(0, length - present) }

    /// Why the mirror's files stay as they are; nil where something is fetched.
    ///
    /// A seal may say that the log is shorter: what it says is proven by its digest.
    package var refusal: String? {
      guard remote.seal == nil else { return nil }
      if length < held { return shortage }
      guard isHeldSealed, heldGeneration == remote.generation, length == held else { return nil }
      return
        "kept: the mirror has all \(held) bytes and the end, the store shows it as open. Pull "
        + "again later"
    }

    /// That the store shows less than the mirror has.
    var shortage: String {
      "kept: the mirror has \(held) bytes, the store shows \(length). Pull again later; if it stays "
        + "so, run 'tidemark verify \(remote.session)'"
    }

    /// Size of the objects that are read for it.
    var stored: ByteCount {
      remote.segments.filter { $0.range.upperBound > present }.map(\.stored).total
    }

    /// Length of the largest object that is read for it, in bytes.
    var largestObject: Int {
      Int(
        clamping: remote.segments.filter { $0.range.upperBound > present }.map(\.stored).max() ?? 0)
    }
  }

  let store: any ObjectStore
  /// For the objects that are read, in bytes: memory does not grow with the sessions fetched at once.
  let objects = WeightedSemaphore(SyncContext.bodyRoom)
  let folder: String
  let linksNames: Bool
  let keys: KnownKeys?
  /// Space on the disk.
  package var space = FreeSpace.system
  /// How large a log may be that is fetched.
  package var limit = UnpackLimit()

  /// Makes a puller.
  ///
  /// - Parameters:
  ///   - store: where the sessions are.
  ///   - folder: the mirror; made where it is missing.
  ///   - linksNames: whether attached files get a second name, `<device>/names/<path>/<session>.log`.
  ///   - keys: what seals are signed with; nil where that is not asked.
  package init(
    _ store: any ObjectStore, into folder: String, linksNames: Bool = false,
    knowing keys: KnownKeys? = nil
  ) {
    self.store = store
    self.folder = folder
    self.linksNames = linksNames
    self.keys = keys
  }

  // MARK: Plan

  /// What the mirror lacks; lists each device-day once and fetches nothing.
  ///
  /// - Parameters:
  ///   - devices: ids of the devices to look at.
  ///   - isWanted: which sessions to look at.
  /// - Throws: ``ObjectStore/StoreError``, ``Platform/SystemError``.
  package func plan(
    devices: [String], including isWanted: (SessionID) -> Bool = { _ in true }
  ) async throws -> [Item] {
    var items: [Item] = []
    try await FolderListing.forEach(of: devices, in: store) { listing in
      for remote in listing.sessions.values where isWanted(remote.session) {
        if let item = try item(of: remote) { items.append(item) }
      }
    }
    return items.sorted { $0.remote.session < $1.remote.session }
  }

  private func item(of remote: RemoteSession) throws -> Item? {
    // Without a sidecar a session is on its way out.
    guard let revision = remote.revision else { return nil }
    let files = files(of: remote)
    let sidecar = try Self.content(files.sidecar)
    let lacksSidecar = !revision.matches(sidecar)
    // The sidecar is written last: of what generation the log is, it says.
    let held = lacksSidecar ? try? Sidecar(json: sidecar) : nil
    let item = Item(
      remote: remote, length: remote.end,
      held: StreamOffset(try FileStatus(files.log)?.length ?? 0),
      heldGeneration: lacksSidecar ? held?.generation ?? 1 : revision.generation,
      isHeldSealed: lacksSidecar ? held.map { $0.status != .active } ?? false : remote.seal != nil,
      lacksSidecar: lacksSidecar)
    return item.missing > 0 || item.held > item.length || item.lacksSidecar ? item : nil
  }

  /// Where a session is mirrored to.
  struct Files {
    let directory: String
    let log: String
    let sidecar: String
    /// What can be read of a log that cannot be mirrored, without `.log`.
    let salvaged: String

    /// An earlier generation that is longer than the one that counts, without `.log`.
    func earlier(_ generation: Int) -> String { "\(base).g\(generation)" }

    fileprivate let base: String
  }

  func files(of remote: RemoteSession) -> Files {
    let directory = "\(folder)/\(remote.folder.device)/\(remote.folder.day)"
    let base = "\(directory)/\(remote.session)"
    return Files(
      directory: directory, log: base + ".log", sidecar: base + ".json",
      salvaged: base + ".salvaged", base: base)
  }

  private static func content(_ path: String) throws -> [UInt8] {
    do {
      return try AtomicFile.read(path)
    } catch let error as SystemError where error.isNotFound {
      return []
    }
  }
}

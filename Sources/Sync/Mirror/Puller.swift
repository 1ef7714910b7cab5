package import ObjectStore
package import Platform
package import Replica
package import SessionLog

/// Mirrors remote sessions into a folder as plain files, `<device>/<day>/<session>.log` and
/// `.json`.
///
/// The files themselves show what is missing: a log by its length, a revision by the sidecar's
/// hash. So an append costs its suffix, and an unchanged session only its share of the day's
/// listing.
///
/// A mirror only grows: a log with bytes that its replacement lacks is kept beside it. If a store
/// has less of a session than the mirror, the session's files stay as they are, and that is an
/// error.
package struct Puller: Sendable {
  /// A session that the mirror lacks, wholly or in part.
  package struct Item: Sendable {
    /// The session as a listing showed it.
    package let remote: RemoteSession
    /// Length of the complete log in bytes.
    package let length: StreamOffset
    /// Length of the mirror's log in bytes, in any generation.
    let mirrored: StreamOffset
    /// The generation of the mirror's log.
    let mirroredGeneration: Int
    /// Whether the mirror's sidecar ends the session.
    let isMirrorSealed: Bool
    /// Whether the mirror has a different sidecar, or none.
    package let lacksSidecar: Bool
    /// Whether the mirror lacks what the file held before it was rewritten.
    let lacksFormer: Bool

    /// Length of the mirror's log in bytes; 0 if it is of another generation.
    package var present: StreamOffset { mirroredGeneration == remote.generation ? mirrored : .zero }

    /// Whether the store has what the mirror has, as what the file held before it was rewritten.
    var isRewritten: Bool {
      mirroredGeneration < remote.generation && remote.mark(of: mirroredGeneration) >= mirrored
    }

    /// Bytes of the log to fetch.
    package var missing: ByteCount { max(0, length - present) }

    /// Why the mirror's files stay as they are; nil if they are updated.
    ///
    /// A seal may state that the log is shorter; its digest proves that.
    package var refusal: String? {
      guard remote.revision != nil else { return sidecarMissing }
      guard remote.seal == nil, !isRewritten else { return nil }
      if length < mirrored { return shortage }
      guard isMirrorSealed, mirroredGeneration == remote.generation, length == mirrored else {
        return nil
      }
      return
        "kept: the mirror has all \(mirrored) bytes and the end, the store shows it as open. Pull "
        + "again later"
    }

    /// A message that nothing says what the session's objects are.
    private var sidecarMissing: String {
      "not mirrored: its objects are in the store without a sidecar: it is being uploaded or "
        + "deleted, or somebody deleted the sidecar. Pull again later; if it stays so, run 'tidemark "
        + "verify --repair \(remote.session)' where it was recorded"
    }

    /// A message that the store has less than the mirror.
    var shortage: String {
      "kept: the mirror has \(mirrored) bytes, the store shows \(length). Pull again later; if it stays "
        + "so, run 'tidemark verify \(remote.session)'"
    }

    /// Size of the objects to read, in bytes.
    var stored: ByteCount {
      remote.segments.filter { $0.range.upperBound > present }.map(\.stored).total
    }

    /// Length of the largest object to read, in bytes.
    var largestObject: Int {
      Int(
        clamping: remote.segments.filter { $0.range.upperBound > present }.map(\.stored).max() ?? 0)
    }
  }

  /// A mirror's former log that was kept when another one took its place.
  package struct KeptLog: Sendable {
    /// Its present path.
    package let path: String
    /// Whether the new one is of another generation, as after a redaction; of the same, the store
    /// contradicts what it showed before.
    package let isOfOtherGeneration: Bool
  }

  let store: any ObjectStore
  /// Bounds the bytes of objects in memory, however many sessions are fetched at once.
  let objects = WeightedSemaphore(SyncContext.bodyRoom)
  let folder: String
  let linksNames: Bool
  let keys: KnownKeys?
  /// The measure of free disk space.
  package var space = FreeSpace.system
  /// Whether to replace logs of an earlier generation, which may contain text that was redacted
  /// since.
  package var replacesFormer = false
  /// Maximum size of a log to fetch.
  package var limit = UnpackLimit()

  /// Makes a puller.
  ///
  /// - Parameters:
  ///   - store: the store that has the sessions.
  ///   - folder: the mirror; created if missing.
  ///   - linksNames: whether attached files get a second name,
  ///     `<device>/names/<path>/<session>.log`.
  ///   - keys: the keys that revisions must be signed with; nil to skip that check.
  package init(
    _ store: any ObjectStore, into folder: String, linksNames: Bool = false,
    knowing keys: KnownKeys?
  ) {
    self.store = store
    self.folder = folder
    self.linksNames = linksNames
    self.keys = keys
  }

  /// Acquires the mirror for this process, and creates it; nil if another process is writing there.
  ///
  /// Hold it from planning on: a plan states how long the mirror's logs are.
  ///
  /// - Throws: ``Platform/SystemError``.
  package func lock() throws -> FileLock? {
    try Directory.make(folder)
    return try FileLock.tryExclusive(folder: folder)
  }

  // MARK: Plan

  /// Plans the fetching; lists each device-day once and fetches nothing.
  ///
  /// - Parameters:
  ///   - devices: ids of the devices to list.
  ///   - isWanted: whether to include a session.
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
    guard remote.hasContent else { return nil }
    let files = files(of: remote)
    let sidecar = try Self.content(files.sidecar)
    let lacksSidecar = remote.revision?.matches(sidecar) != true
    // The sidecar is written last and states the log's generation.
    let mirroredSidecar = lacksSidecar ? try? Sidecar(json: sidecar) : nil
    let item = Item(
      remote: remote, length: remote.end,
      mirrored: StreamOffset(try FileStatus(files.log)?.length ?? 0),
      mirroredGeneration: lacksSidecar ? mirroredSidecar?.generation ?? 1 : remote.generation,
      isMirrorSealed: lacksSidecar
        ? mirroredSidecar.map { $0.status != .active } ?? false : remote.seal != nil,
      lacksSidecar: lacksSidecar,
      lacksFormer: try !lacksSidecar && lacksFormer(sidecar, files))
    let isComplete = item.missing == 0 && item.mirrored <= item.length
    return isComplete && !item.lacksSidecar && !item.lacksFormer ? nil : item
  }

  /// Paths of a mirrored session.
  struct Files {
    let directory: String
    let log: String
    let sidecar: String
    /// The salvaged log of a session that cannot be mirrored, without `.log`.
    let salvaged: String

    /// A replaced log with bytes that the current one lacks, without `.log`.
    func earlier(_ generation: Int) -> String { "\(base).g\(generation)" }

    /// What the file held in an earlier generation.
    func former(_ generation: Int) -> String { earlier(generation) + ".log" }

    fileprivate let base: String
  }

  func files(of remote: RemoteSession) -> Files {
    let directory = "\(folder)/\(remote.folder.device)/\(remote.folder.day)"
    let base = "\(directory)/\(remote.session)"
    return Files(
      directory: directory, log: base + ".log", sidecar: base + ".json",
      salvaged: base + ".salvaged", base: base)
  }

  static func content(_ path: String) throws -> [UInt8] {
    do {
      return try AtomicFile.read(path)
    } catch let error as SystemError where error.isNotFound {
      return []
    }
  }
}

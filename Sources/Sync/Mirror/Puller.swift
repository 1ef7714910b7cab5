package import ObjectStore
package import Platform
package import Replica
import SessionLog

/// Mirrors remote sessions into a folder as plain files.
///
/// The files themselves show what is missing: a log by its length, a revision by the sidecar's
/// hash. So an append costs its suffix, and an unchanged session only its share of the day's
/// listing.
///
/// A mirror only grows: a log with bytes that its replacement lacks is kept beside it. If a store
/// has less of a session than the mirror, the session's files stay as they are, and that is an
/// error.
package struct Puller: Sendable {
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
  let mirror: MirrorFolder
  let keys: KnownKeys?
  /// The measure of free disk space.
  package var space = FreeSpace.system
  /// Whether to replace logs of an earlier generation, which may contain text that was redacted
  /// since, once the redacted one is sealed.
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
    mirror = MirrorFolder(path: folder, linksNames: linksNames)
    self.keys = keys
  }

  /// Acquires the mirror for this process, and creates it; nil if another process is writing there.
  ///
  /// Hold it from planning on: a plan states how long the mirror's logs are.
  ///
  /// - Throws: ``Platform/SystemError``.
  package func lock() throws -> FileLock? {
    try FileLock.tryExclusive(
      Descriptor(openingForeignFolder: mirror.path, creating: 0o700))
  }

  // MARK: Plan

  /// Plans the fetching; lists each device-day once and fetches nothing.
  ///
  /// - Parameters:
  ///   - devices: ids of the devices to list.
  ///   - isWanted: whether to include a session.
  /// - Throws: ``ObjectStore/StoreError``, ``Platform/SystemError``.
  package func plan(
    devices: [String], including isWanted: (DeviceSession) -> Bool = { _ in true }
  ) async throws -> [Item] {
    var items: [Item] = []
    try await FolderListing.forEach(of: devices, in: store) { listing in
      guard let first = listing.sessions.values.first else { return }
      // What cannot be read there fails its own session, once it is fetched.
      let day = try? mirror.day(first.folder)
      let names = replacesFormer ? try day?.names() ?? [] : []
      for remote in listing.sessions.values where isWanted(remote.deviceSession) {
        let files = day.map { MirroredFiles(of: remote.session, in: $0) }
        if let item = try item(of: remote, files, besides: names) { items.append(item) }
      }
    }
    return items.sorted { $0.remote.session < $1.remote.session }
  }

  /// - Parameters:
  ///   - files: the mirror's files; nil if it has none.
  ///   - names: names in the folder, of which logs of earlier generations are to be removed if they
  ///     were redacted.
  private func item(
    of remote: RemoteSession, _ files: MirroredFiles?, besides names: [String]
  ) throws -> Item? {
    guard remote.hasContent else { return nil }
    let sidecar = (try? files?.sidecarBytes()) ?? []
    let lacksSidecar = remote.revision?.matches(sidecar) != true
    // The sidecar is written last and states the log's generation.
    let mirroredSidecar = lacksSidecar ? try? Sidecar(json: sidecar) : nil
    let item = Item(
      remote: remote, length: remote.end,
      mirrored: StreamOffset(try files.flatMap { try $0.folder.status(of: $0.log) }?.length ?? 0),
      mirroredGeneration: lacksSidecar ? mirroredSidecar?.generation ?? 1 : remote.generation,
      isMirrorSealed: lacksSidecar
        ? mirroredSidecar.map { $0.status != .active } ?? false : remote.seal != nil,
      lacksSidecar: lacksSidecar,
      lacksFormer: try !lacksSidecar && files?.lacksFormer(sidecar) ?? false)
    let isComplete = item.missing == 0 && item.mirrored <= item.length
    guard isComplete, !item.lacksSidecar, !item.lacksFormer else { return item }
    guard !names.isEmpty, remote.seal != nil, let files, let sidecar = try? Sidecar(json: sidecar)
    else { return nil }
    return files.unlisted(names, sidecar, upTo: remote.generation).isEmpty ? nil : item
  }
}

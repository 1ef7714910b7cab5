import Crypto
import Delta
import Foundation
public import ObjectStore
public import Replica
public import SessionLog

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Mirrors remote sessions into a folder as plain files, `<device>/<day>/<session>.log` and `.json`.
///
/// The files themselves say what is still to be fetched: a log's length how far it has come, a
/// sidecar's hash which revision it is. So an append costs its suffix, and an unchanged session
/// nothing but its part of the day's listing.
public struct Puller: Sendable {
  /// One session of which the mirror lacks something.
  public struct Item: Sendable {
    /// The session as a listing showed it.
    public let remote: RemoteSession
    /// Length that the log will have, in bytes.
    public let length: Int64
    /// Length that it has, in bytes; 0 where it is of another generation.
    public let present: Int64
    /// Whether the mirror has another sidecar, or none.
    public let lacksSidecar: Bool

    /// Bytes of the log to fetch.
    public var missing: Int64 { max(0, length - present) }

    /// Length of the largest object that is read for it, in bytes.
    var largestObject: Int {
      Int(
        clamping: remote.segments.filter { $0.range.upperBound > present }.map(\.stored).max() ?? 0)
    }
  }

  let store: any ObjectStore
  /// For the objects that are read, in bytes: memory does not grow with the sessions fetched at once.
  let objects = Room(SyncContext.bodyRoom)
  private let folder: String
  private let linksNames: Bool

  /// Makes a puller.
  ///
  /// - Parameters:
  ///   - store: where the sessions are.
  ///   - folder: the mirror; made where it is missing.
  ///   - linksNames: whether attached files get a second name, `<device>/names/<path>/<session>.log`.
  public init(_ store: any ObjectStore, into folder: String, linksNames: Bool = false) {
    self.store = store
    self.folder = folder
    self.linksNames = linksNames
  }

  // MARK: Plan

  /// What the mirror lacks; lists each device-day once and fetches nothing.
  ///
  /// - Parameters:
  ///   - devices: ids of the devices to look at.
  ///   - isWanted: which sessions to look at.
  /// - Throws: ``ObjectStore/StoreError``, ``SessionLog/SystemError``.
  public func plan(
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
    let generation =
      lacksSidecar ? (try? Sidecar(json: sidecar))?.generation ?? 1 : revision.generation
    let item = Item(
      remote: remote, length: remote.end,
      present: generation == revision.generation ? try FileStatus(files.log)?.length ?? 0 : 0,
      lacksSidecar: lacksSidecar)
    return item.missing > 0 || item.present > item.length || item.lacksSidecar ? item : nil
  }

  /// Where a session is mirrored to.
  struct Files {
    let directory: String
    let log: String
    let sidecar: String
    /// What can be read of a log that cannot be mirrored.
    let salvaged: String
  }

  func files(of remote: RemoteSession) -> Files {
    let directory = "\(folder)/\(remote.folder.device)/\(remote.folder.day)"
    let base = "\(directory)/\(remote.session)"
    return Files(
      directory: directory, log: base + ".log", sidecar: base + ".json",
      salvaged: base + ".salvaged.log")
  }

  private static func content(_ path: String) throws -> [UInt8] {
    do {
      return try AtomicFile.read(path)
    } catch let error as SystemError where error.isNotFound {
      return []
    }
  }

  // MARK: Execute

  /// One session whose log is as it is to be, but perhaps not yet on the disk.
  struct Fetched: Sendable {
    let item: Item
    let sidecar: Sidecar
    let json: [UInt8]

    /// Whether there is a log: of a session of which none was sent only the sidecar is mirrored.
    var hasLog: Bool { !sidecar.withholdsLog || item.length > 0 }
  }

  /// Fetches what one session's log lacks.
  ///
  /// A sealed session's log is compared with the digest in its sidecar, and fetched anew once where it
  /// differs.
  func fetch(_ item: Item, report: (Int64) -> Void) async throws -> Fetched? {
    guard let revision = item.remote.revision else { return nil }
    let files = files(of: item.remote)
    try FileManager.default.createDirectory(
      atPath: files.directory, withIntermediateDirectories: true)
    let json = try await RemoteReader(store).json(of: revision, in: item.remote.folder)
    let sidecar = try RemoteReader.sidecar(json, of: revision)
    let fetched = Fetched(item: item, sidecar: sidecar, json: json)
    guard fetched.hasLog else { return fetched }
    let expected = item.remote.seal == nil ? nil : sidecar.digest

    let start = item.present <= item.length ? item.present : 0
    var found = try await fetch(item, from: start, to: files.log, report)
    if let expected, start > 0, try Self.digest(files.log) != expected {
      found = try await fetch(item, from: 0, to: files.log, report)
    } else if start > 0 {
      found = expected ?? found
    }
    guard expected == nil || found == expected else {
      throw ReplicaError(
        .damagedObject, "\(item.remote.session) is not the log that its sidecar was sealed with")
    }
    return fetched
  }

  /// Makes logs durable, and only then adds the sidecars, which say that nothing is lacking.
  ///
  /// Blocks until all is on the disk.
  func settle(_ sessions: [Fetched]) throws {
    let logs = sessions.filter(\.hasLog).map { files(of: $0.item.remote).log }
    try AtomicFile.synchronize(logs)
    for session in sessions {
      let files = files(of: session.item.remote)
      try AtomicFile.write(session.json, to: files.sidecar, isDurable: false)
      if linksNames, session.hasLog, session.sidecar.format == .asIs {
        try giveOriginalName(files.log, session.sidecar)
      }
    }
    try AtomicFile.synchronize(sessions.map { files(of: $0.item.remote).sidecar })
  }

  /// Fetches a log from an offset on.
  ///
  /// - Returns: SHA-256 over what was fetched.
  private func fetch(
    _ item: Item, from start: Int64, to path: String, _ report: (Int64) -> Void
  ) async throws -> String {
    let log = try MirrorFile(path)
    try log.truncate(to: start)
    let before = try log.bytes(before: start, count: Link.span)
    return try await RemoteReader(store).read(
      item.remote, from: start, after: before, upTo: item.length
    ) { piece in
      try log.append(piece)
      report(Int64(piece.count))
    }
  }

  private static func digest(_ path: String) throws -> String {
    let log = try LogFile(path: path)
    var hasher = SHA256()
    try log.forEachPiece(of: 0..<log.status().length) { hasher.update(bufferPointer: $0) }
    return StreamDigest.hex(hasher.finalize())
  }

  /// Gives an attached file's log the name that it had where it was written.
  private func giveOriginalName(_ log: String, _ sidecar: Sidecar) throws {
    let parts = sidecar.fileName.split(separator: "/")
    // What a store says is never followed out of the mirror.
    guard sidecar.fileName.utf8.count < 2048, !parts.isEmpty,
      !parts.contains(where: { $0 == "." || $0 == ".." || $0.contains("\0") })
    else { return }
    let directory =
      "\(folder)/\(sidecar.deviceId)/names/" + parts.joined(separator: "/")
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    let path = "\(directory)/\(sidecar.sessionId).log"
    guard link(log, path) == 0 || errno == EEXIST else {
      throw SystemError(operation: "link", path: path, errno: errno)
    }
  }
}

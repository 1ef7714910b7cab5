import Foundation
import LogRecords
import ObjectStore
import Platform
import Replica
import SessionLog

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A session as it lies in the home.
struct LocalSession {
  let home: Home
  let session: SessionID
  let files: SessionFiles

  init(_ home: Home, _ session: SessionID) {
    self.home = home
    self.session = session
    files = home.files(for: session)
  }

  /// What is here of the stream; nil when nothing is.
  ///
  /// - Parameter source: the file that an attached session reads.
  func openLog(_ source: Sidecar.Source?) throws -> LocalStream? {
    do {
      guard let source else { return try LocalStream(files) }
      return try LocalStream(source, rest: files.log)
    } catch let error as SystemError where error.isNotFound {
      return nil
    }
  }

  var hasSidecar: Bool { access(files.sidecar, F_OK) == 0 }

  /// The sidecar, pieced together from the id where it is missing or damaged.
  ///
  /// - Returns: the sidecar, and whether what is on disk could not be read.
  func sidecar(device: Device) throws -> (sidecar: Sidecar, isDamaged: Bool) {
    let found = try sidecarAsFound(device: device)
    return (found.sidecar, found.isDamaged)
  }

  /// The same, and the device that it names where that is another one.
  func sidecarAsFound(
    device: Device
  ) throws -> (sidecar: Sidecar, isDamaged: Bool, formerDevice: String?) {
    var sidecar: Sidecar
    var isDamaged = false
    do {
      sidecar = try Sidecar.load(files.sidecar)
    } catch is SidecarError {
      (sidecar, isDamaged) = (Sidecar.reconstructed(id: session, device: device), true)
    }
    // In machine-wide mode a user may write anything here, but not in another's name.
    if let owner = home.owner { sidecar.userId = owner.name }
    guard sidecar.seal == nil, sidecar.deviceId != device.deviceId else {
      return (sidecar, isDamaged, nil)
    }
    // What is not sealed is sent as this device's, whatever id the home had before: it was copied or
    // moved, or lost its device record. Of sealed ones the id says where they are.
    let former = sidecar.deviceId
    sidecar.deviceId = device.deviceId
    return (sidecar, isDamaged, former)
  }

  /// The sidecar where this home sealed the session as a listing shows it; nil otherwise.
  func sidecar(sealedBy remote: RemoteSession, _ context: SyncContext) -> Sidecar? {
    guard let sidecar = try? Sidecar.load(files.sidecar), let seal = sidecar.seal,
      seal.revision == remote.seal?.fileName, seal.store == context.store.location
    else { return nil }
    return sidecar
  }

  /// How the session ended; nil while somebody writes it or nothing can be known.
  func verdict(_ sidecar: Sidecar, context: SyncContext, modified: Timestamp) throws -> Verdict? {
    let lock = try FileLock.tryExclusive(files.lock)
    defer { withExtendedLifetime(lock) {} }
    return try Verdict.reach(
      sidecar: sidecar, files: files, lockGranted: lock != nil, machine: context.machine,
      now: context.now(), logModified: modified)
  }

  /// Compresses what a recorder that died has left plain.
  func compressParts(_ format: LogFormat) throws {
    do {
      try files.compressParts(format: format)
    } catch let error as SystemError where error.isDiskFull {
      // A plain part is read as it is, and will be sent and reaped like any other.
    }
  }

  /// How long a record may lack its newline before it is cut where it stands, in milliseconds.
  private static let partialRecordPatience: Int64 = 60_000
  /// How long a record may grow before it is cut where it stands, in bytes.
  private static let partialRecordLimit: Int64 = 8 << 20

  /// Up to which offset a log that is still being written may be sent: the end of its last record,
  /// and not inside of what may become a secret.
  func sendableEnd(
    of log: LocalStream, length: Int64, sent: Int64, modified: Timestamp, format: LogFormat,
    context: SyncContext
  ) throws -> Int64 {
    guard length > sent else { return sent }
    let end = try log.lastRecordEnd(in: sent..<length) ?? sent
    let waited = context.now().milliseconds - modified.milliseconds
    let isOverdue =
      waited >= Self.partialRecordPatience || length - end > Self.partialRecordLimit
    let last = isOverdue ? length : end
    guard last > sent else { return sent }
    return max(sent, try log.settledEnd(last, by: context.redaction.current, format))
  }

  /// Bytes that the log and its parts take on the disk.
  func logBytes() throws -> Int64 {
    let parts = try files.parts().flatMap { [$0.plain, $0.compressed] }
    return try ([files.log] + parts).reduce(0) { try $0 + (FileStatus($1)?.length ?? 0) }
  }

  /// Milliseconds since the marker was made; nil without a marker.
  func markerAge(now: Timestamp) throws -> Int64? {
    try FileStatus(files.marker).map { now.milliseconds - $0.modifiedAt.milliseconds }
  }

  /// Forgets everything that a session needs until its seal is marked here, and remembers where the
  /// seal left something behind on the remote.
  func settle(_ context: SyncContext) throws {
    let isTidy = try context.manifest.entry(session)?.hasOnlyFinalObjects == true
    try context.manifest.forgetSealed([session: isTidy], due: context.now())
    try leave()
  }

  /// Removes what leads a pass to the session.
  func leave() throws {
    try Self.remove(files.redaction)
    try removeMarker()
    try Quarantine(home).release(session)
  }

  /// Ends the uploader's interest in the session.
  ///
  /// The lock goes first: without a marker nobody would ever remove it.
  func removeMarker() throws {
    for path in [files.reserve, files.lock, files.marker] { try Self.remove(path) }
  }

  /// Removes all files of the session, what a killed process left of them too.
  ///
  /// The sidecar goes last: as long as it stands, so does the record of what was there.
  ///
  /// - Returns: bytes freed.
  func removeFiles() throws -> Int64 {
    var freed: Int64 = 0
    let beside = try [home.cachePath, files.directory].flatMap { directory in
      try Directory.names(in: directory)
        .filter { $0.hasPrefix("\(session).") }
        .map { "\(directory)/\($0)" }
    }
    for path in beside.filter({ $0 != files.sidecar }) + [files.marker, files.sidecar] {
      freed += try FileStatus(path)?.length ?? 0
      try Self.remove(path)
    }
    rmdir(files.directory)
    return freed
  }

  /// Removes a file; one that is not there is fine.
  static func remove(_ path: String) throws {
    guard unlink(path) != 0, errno != ENOENT, errno != ENOTDIR else { return }
    throw SystemError(operation: "remove", path: path, errno: errno)
  }
}

import Foundation
import LogRecords
import ObjectStore
import Platform
import Replica
import SessionLog

/// What an upload does with a session as it lies in the home.
extension LocalSession {
  /// The sidecar where this home sealed the session as a listing shows it; nil otherwise.
  func sidecar(sealedBy remote: RemoteSession, _ context: SyncContext) -> Sidecar? {
    guard let sidecar = try? Sidecar.load(files.sidecar), let seal = sidecar.seal,
      seal.revision == remote.seal?.fileName, seal.store == context.store.location
    else { return nil }
    return sidecar
  }

  /// How the session ended; nil while somebody writes it or nothing can be known.
  func verdict(_ sidecar: Sidecar, context: SyncContext, modified: Timestamp) throws -> Verdict? {
    try verdict(sidecar, machine: context.machine, now: context.now(), modified: modified)
  }

  /// Compresses what a recorder that died has left plain.
  func compressParts(_ format: LogFormat) throws {
    do {
      try files.compressParts(format: format)
    } catch let error as SystemError where error.isDiskFull {
      // A plain part is read as it is, and will be sent and reaped like any other.
    }
  }

  /// How long a record may lack its newline before it is cut where it stands.
  private static let partialRecordPatience = Duration.seconds(60)
  /// How long a record may grow before it is cut where it stands, in bytes.
  private static let partialRecordLimit: ByteCount = 8 << 20

  /// Up to which offset a log that is still being written may be sent: the end of its last record,
  /// and not inside of what may become a secret; and why not further.
  func sendableEnd(
    of log: LocalStream, length: StreamOffset, sent: StreamOffset, modified: Timestamp,
    format: LogFormat,
    context: SyncContext
  ) throws -> (offset: StreamOffset, rest: WaitReason?) {
    guard length > sent else { return (sent, .nothingNew) }
    let end = try log.lastRecordEnd(in: sent..<length) ?? sent
    let waited = context.now() - modified
    let isOverdue =
      waited >= Self.partialRecordPatience || length - end > Self.partialRecordLimit
    let last = isOverdue ? length : end
    guard last > sent else { return (sent, .unfinishedLine) }
    let settled = max(sent, try log.settledEnd(last, by: context.redaction.current, format))
    return (settled, settled < last ? .heldBackSecret : last < length ? .unfinishedLine : nil)
  }

  /// Time since the marker was made; nil without a marker.
  func markerAge(now: Timestamp) throws -> Duration? {
    try FileStatus(files.marker).map { now - $0.modifiedAt }
  }

  /// Forgets everything that a session needs until its seal is marked here, and remembers where the
  /// seal left something behind on the remote.
  func settle(_ context: SyncContext) throws {
    // Of a session that a killed pass sealed, the row does not say what that pass saw.
    let entry = try context.manifest.entry(session)
    let isTidy = entry.map { !$0.isDirty && $0.hasOnlyFinalObjects } ?? false
    try context.manifest.forgetSealed([session: isTidy], due: context.now())
    try leave()
  }

  /// Removes what leads a pass to the session.
  func leave() throws {
    try File.remove(files.redaction)
    try removeMarker()
    try Quarantine(home).release(session)
  }

  /// Ends the uploader's interest in the session.
  ///
  /// The lock goes first: without a marker nobody would ever remove it.
  func removeMarker() throws {
    for path in [files.reserve, files.lock, files.marker] { try File.remove(path) }
  }

  /// Removes all files of the session, what a killed process left of them too.
  ///
  /// The sidecar goes last: as long as it stands, so does the record of what was there.
  ///
  /// - Returns: bytes freed.
  func removeFiles() throws -> ByteCount {
    var freed: ByteCount = 0
    let beside = try [home.cachePath, files.directory].flatMap { directory in
      try Directory.names(in: directory)
        .filter { $0.hasPrefix("\(session).") }
        .map { "\(directory)/\($0)" }
    }
    for path in beside.filter({ $0 != files.sidecar }) + [files.marker, files.sidecar] {
      freed += ByteCount(try FileStatus(path)?.length ?? 0)
      try File.remove(path)
    }
    Directory.removeIfEmpty(files.directory)
    return freed
  }
}

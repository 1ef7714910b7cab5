import Foundation
import LogRecords
import ObjectStore
import Platform
import Replica
import SessionLog

/// What an upload does with a session as it lies in the home.
extension LocalSession {
  /// Compresses what a recorder that died has left plain.
  func compressParts(_ format: LogFormat) throws {
    do {
      try files.compressParts(format: format)
    } catch let error as SystemError where error.isDiskFull {
      // A plain part is read as it is, and will be sent and reaped like any other.
    }
  }

  /// How long a record may lack its newline, and what might begin a secret its end, before it is cut
  /// where it stands.
  private static let partialRecordPatience = Duration.seconds(60)
  /// How long a record may grow before it is cut where it stands, in bytes.
  private static let partialRecordLimit: ByteCount = 8 << 20

  /// Up to which offset a log that is still being written may be sent: the end of its last record,
  /// and not inside of what may become a secret; all of it where nothing has come for a while; and
  /// why not further.
  func sendableEnd(
    of log: LocalStream, length: StreamOffset, sent: StreamOffset, modified: Timestamp,
    format: LogFormat,
    context: SyncContext
  ) throws -> (offset: StreamOffset, rest: WaitReason?) {
    guard length > sent else { return (sent, .nothingNew) }
    let end = try log.lastRecordEnd(in: sent..<length) ?? sent
    if isIdle(since: modified, context) { return (length, nil) }
    let last = length - end > Self.partialRecordLimit ? length : end
    guard last > sent else { return (sent, .unfinishedLine) }
    let settled = max(sent, try log.settledEnd(last, by: context.redaction.current, format))
    return (settled, settled < last ? .heldBackSecret : last < length ? .unfinishedLine : nil)
  }

  /// Whether nothing has come to a log for so long that it may be cut where it stands.
  func isIdle(since modified: Timestamp, _ context: SyncContext) -> Bool {
    context.now() - modified >= Self.partialRecordPatience
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
    for path in [files.reserve, files.declared, files.lock, files.marker] { try File.remove(path) }
  }
}

extension Sidecar {
  /// Whether this home put a seal into a store.
  func isSealed(by name: RevisionName, in store: String) -> Bool {
    seal?.revision == name.fileName && seal?.store == store
  }
}

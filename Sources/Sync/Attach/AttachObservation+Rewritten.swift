import Platform
import Replica
import SessionLog

/// Files of which bytes have changed that were sent already: a log that lost its head, or lines of
/// which were made unreadable.
extension AttachObservation {
  /// A file as it is after it was rewritten in its place; nil where it is another log.
  ///
  /// Only a session that reads a whole file can be sent anew.
  func rewritten(_ file: AttachedFile, as candidate: AttachCandidate) throws -> AttachedFile? {
    guard isOpen(file), file.source.base == 0, candidate.form == nil,
      let sent = try SentContent(file, context)
    else { return nil }
    let content = try FileContent(candidate.path)
    guard let log = try SentContent.view(of: file, in: content, context) ?? content.log(from: 0),
      try sent.makesUpHalf(of: log), let link = try content.link(before: candidate.status.length)
    else { return nil }
    let head = try content.head()
    var file = file
    file.place(at: candidate.path, candidate.status)
    file.source.headLength = head.count
    file.source.headHash = Sidecar.Source.headHash(of: head)
    file.seen = candidate.status.length
    file.link = link
    file.changed = candidate.status.changed
    file.isRotated = false
    let idleEnd = source(of: candidate)?.idleEnd ?? LogSource.defaultIdleEnd
    file.idleAt = candidate.status.modifiedAt + idleEnd
    return file
  }

  /// Whether a file that begins and ends as before may have been edited, and was.
  ///
  /// It may where it took the old one's place, or has changed without growing; that is rare, and
  /// worth reading all of it.
  func isEdited(_ file: AttachedFile, at candidate: AttachCandidate) throws -> Bool {
    let isReplaced = candidate.status.device == file.source.device && !file.isAt(candidate.status)
    let isTouched =
      candidate.status.length == file.seen && candidate.status.changed != file.changed
    guard candidate.path == file.source.path, file.changed != .epoch, isReplaced || isTouched,
      let sent = try SentContent(file, context)
    else { return false }
    return try !sent.isBeginning(
      of: SentContent.view(of: file, in: FileContent(candidate.path), context))
  }
}

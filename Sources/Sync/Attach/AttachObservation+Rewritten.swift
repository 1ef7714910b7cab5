import Platform
import Replica
import SessionLog

/// Recognizes files whose already sent bytes have changed: a log whose head was cut, or whose lines
/// were masked.
extension AttachObservation {
  /// The file after a rewrite in place; nil if it is another log.
  ///
  /// Only a session that reads a whole file can be sent again.
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

  /// Whether a file was edited although its beginning and end match.
  ///
  /// Checks only a file that was replaced, or changed without growing; that is rare enough to read
  /// it whole.
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

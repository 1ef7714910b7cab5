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
    let sidecar = try? Sidecar.load(context.home.files(for: file.session).sidecar)
    guard try isOpen(file), file.source.base == 0, candidate.form == nil,
      sidecar?.former?.count ?? 0 < Sidecar.mostFormerStreams,
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

  /// Whether a file holds other bytes than were sent of it although its beginning and end match.
  ///
  /// Reads the file whole only if it was replaced, compressed, or changed other than by growing, or
  /// changed after its session was sealed: that is rare enough. Of an open file that grew or was renamed it
  /// reads a sample, and the seal compares the whole.
  func isEdited(_ file: AttachedFile, at candidate: AttachCandidate) throws -> Bool {
    let (status, isInPlace) = (candidate.status, candidate.path == file.source.path)
    guard !file.isGone, !file.isCompressed else { return false }
    guard candidate.form == nil else {
      let sent = try SentBytes(file.session, context)
      return try sent.map { try !$0.areUnpackedIn(FileContent(candidate.path)) } ?? false
    }
    if isInPlace, isDoubted(file) { return true }
    let isSame = file.isAt(status) && status.length == file.seen
    if isSame, file.changed == status.changed { return false }
    guard let sent = try SentBytes(file.session, context) else {
      return try isInPlace && isSame && isOverwrittenUnsent(file, status)
    }
    let content = try FileContent(candidate.path)
    if sent.isSealed {
      // A rename changes only the change time, which a new cache does not have at all.
      if !isInPlace || file.changed == .epoch, sent.isUntouched(status) { return false }
      return try !sent.areIn(content, before: file.seen)
    }
    if isInPlace, file.changed != .epoch, status.device == file.source.device,
      isSame || !file.isAt(status)
    {
      return try !sent.areIn(content)
    }
    return try (status.length > file.seen || !isInPlace) && !sent.areSampled(in: content)
  }

  /// Whether a file of which nothing was sent was written to without growing since it was read: what
  /// was read may be gone.
  private func isOverwrittenUnsent(_ file: AttachedFile, _ status: FileStatus) throws -> Bool {
    guard context.consent == .logs, try isOpen(file), file.changed != .epoch,
      status.modified > file.changed
    else { return false }
    return try context.manifest.entry(file.session)?.sent ?? .zero == .zero
  }

  /// Whether the last upload found other bytes in the file than were sent; without the rules by
  /// which they were sent it finds nothing.
  private func isDoubted(_ file: AttachedFile) -> Bool {
    guard problems[file.source.path] == .doubted(file.session) else { return false }
    let local = LocalSession(context.home, file.session)
    return (try? Sidecar.load(local.files.sidecar)).map { sidecar in
      (try? context.redaction.spans(local.redaction(sidecar) ?? [])) != nil
    } ?? false
  }
}

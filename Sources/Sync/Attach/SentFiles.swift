import Delta
import LogRecords
import Platform
import Replica
import SessionLog

/// What was sent of attached files, compared with what files hold.
struct SentFiles {
  let context: SyncContext
  /// Paths that could not be read last time, or whose upload failed, with the reason.
  let problems: [String: AttachProblem]
  /// Files that could not be read last time, and for which sessions wait.
  let awaited: Set<AwaitedFile>
  /// How much may still be compared whole.
  var budget = ComparisonBudget()

  /// Whether a session still reads its file: it has not ended, and was not deleted.
  func isOpen(_ file: AttachedFile) throws -> Bool {
    try file.isOpen && LocalSession(context.home, file.session).isHere()
  }

  /// Whether a session is not sealed yet, so that its bytes may still be needed.
  func isPending(_ file: AttachedFile) throws -> Bool {
    let local = LocalSession(context.home, file.session)
    guard try local.isHere() else { return false }
    return file.isOpen || (try? Sidecar.load(local.files.sidecar))?.seal == nil
  }

  // MARK: Sent bytes that have changed: a log whose head was cut, or whose lines were masked

  /// The file after a rewrite in place; nil if it is another log.
  ///
  /// Only a session that reads a whole file, or has all of a compressed one in the home's log, can be
  /// sent again.
  func rewritten(
    _ file: AttachedFile, as candidate: AttachCandidate, idleEnd: Duration
  ) throws -> AttachedFile? {
    let sidecar = try? Sidecar.load(context.home.files(for: file.session).sidecar)
    guard file.source.base == 0, file.mayBelong(to: candidate.status) else {
      return nil
    }
    guard sidecar?.former?.count ?? 0 < Sidecar.mostFormerStreams else {
      return nil
    }
    if isDoubted(file), file.isAt(candidate.status), file.source.length == .zero {
      var file = file
      file.changed = candidate.status.changed
      return file
    }
    guard try isOpen(file), candidate.form == nil, let sent = try SentContent(file, context) else {
      return nil
    }
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
    file.idleAt = candidate.status.idle(for: idleEnd, seenAt: context.now())
    return file
  }

  /// Whether a file holds other bytes than were sent of it although its beginning and end match.
  ///
  /// Reads the file whole only if it was replaced, compressed, or changed other than by growing, or
  /// changed after its session was sealed: that is rare enough. Of an open file that grew or was renamed it
  /// reads a sample, and the seal compares the whole.
  func isEdited(_ file: AttachedFile, at candidate: AttachCandidate) throws -> Bool {
    let (status, isInPlace) = (candidate.status, candidate.path == file.source.path)
    guard !file.isGone else { return false }
    if isInPlace, isDoubted(file) { return true }
    guard !file.isCompressed else { return false }
    guard candidate.form == nil else {
      let sent = try SentBytes(file.session, context)
      return try sent.map { try !areUnpacked($0, in: FileContent(candidate.path)) } ?? false
    }
    let isSame = file.isAt(status) && status.length == file.seen
    if isSame, file.changed == status.changed { return false }
    guard let sent = try SentBytes(file.session, context) else {
      return try isInPlace && isSame && isOverwrittenUnsent(file, status)
    }
    let content = try FileContent(candidate.path)
    if sent.isSealed {
      // A rename changes only the change time, which a new cache does not have at all.
      if !isInPlace || file.changed == .epoch, sent.isUntouched(status) { return false }
      return try !holds(sent, in: content, before: file.seen)
    }
    if isInPlace, file.changed != .epoch, status.device == file.source.device,
      isSame || !file.isAt(status)
    {
      return try !holds(sent, in: content)
    }
    return try (status.length > file.seen || !isInPlace) && !sent.areSampled(in: content)
  }

  /// Whether content has what was sent; once much has been compared in a pass, a sample decides, so that
  /// touching large files does not delay other logs.
  private func holds(
    _ sent: SentBytes, in content: FileContent, before end: Int64 = .max
  ) throws -> Bool {
    if budget.take(sent.length) { return try sent.areIn(content, before: end) }
    return try sent.areSampled(in: content, upTo: budget.takeSample())
  }

  /// The same for content that may be compressed, whose first and last bytes have to do once much has been
  /// unpacked.
  private func areUnpacked(
    _ sent: SentBytes, in content: FileContent, before end: Int64 = .max
  ) throws -> Bool {
    guard budget.isLeft else { return true }
    return try sent.areUnpackedIn(content, before: end) { budget.spend($0) }
  }

  /// Whether a file of which nothing was sent was written to without growing since it was read: what
  /// was read may be gone.
  private func isOverwrittenUnsent(_ file: AttachedFile, _ status: FileStatus) throws -> Bool {
    guard context.consent == .logs, try isOpen(file), file.changed != .epoch,
      status.modified > file.changed
    else { return false }
    if let entry = try context.manifest.entry(file.session) { return entry.sent == .zero }
    // Rules are bound before anything is sent under them: with them, the cache has been lost.
    return try LocalSession(context.home, file.session).loadUploadState()?.redaction == nil
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

  /// Whether a file is a known one, perhaps grown; see ``FileContent/continues(_:)``.
  ///
  /// A compressed one whose last bytes are no longer known, as its unpacked copy and the cache are gone,
  /// is compared with what was sealed. So are the bytes before the session's first, if nothing else but the
  /// head is known: another log may have that, too.
  func continues(_ known: AttachedFile, _ content: FileContent) throws -> Bool {
    guard known.isCompressed, known.link == nil, known.source.headLength > 0,
      try known.mayBelong(to: content.status()), try content.hasHead(of: known),
      let isSealed = try SealedSource(of: LocalSession(context.home, known.session), context)
        .isSealed(in: content.path)
    else {
      guard known.link == nil else {
        return try content.continues(known) || endsAsSent(known, in: content)
      }
      return try content.continues(known)
        && (known.source.base == 0 || isBase(of: known, in: content))
    }
    return isSealed
  }

  /// Whether content has, up to the known offset, the last bytes that were sent: a cache that was rebuilt may
  /// know those of an open file masked, as any knows those of a file that is gone.
  private func endsAsSent(_ known: AttachedFile, in content: FileContent) throws -> Bool {
    guard let link = known.link, known.isGone || known.isOpen && known.changed == .epoch,
      known.source.headLength > 0,
      try known.mayBelong(to: content.status()), try content.hasHead(of: known)
    else { return false }
    let local = LocalSession(context.home, known.session)
    let end = known.source.offset(of: known.seen)
    guard let sidecar = try? Sidecar.load(local.files.sidecar),
      let log = try content.log(from: known.source.base) ?? unpacked(content, for: known)
    else { return false }
    return local.sentLink(of: log, sidecar, context, before: end) == link
  }

  /// The stream of a session in a compressed file; nil if that cannot be unpacked, or once much was.
  private func unpacked(_ content: FileContent, for known: AttachedFile) throws -> LocalStream? {
    let path = "\(context.home.cachePath)/\(known.session).unpacked"
    guard budget.isLeft, let log = try? content.unpackedLog(from: known.source.base, at: path)
    else { return nil }
    budget.spend(try log.status().length.byteCount)
    return log
  }

  private func isBase(of known: AttachedFile, in content: FileContent) throws -> Bool {
    let path = context.home.files(for: known.session).sidecar
    return try (try? Sidecar.load(path)).map {
      try SentBytes.isBase(of: $0, in: content, context)
    } ?? true
  }

  // MARK: Sent bytes in other files

  /// A missing file as it was at its end, if a pass that died had unpacked all of it into the home's log;
  /// nil if not.
  ///
  /// The log of an open session has nothing else, but the report of a loss by such a pass.
  func unpacked(_ file: AttachedFile) throws -> AttachedFile? {
    let path = context.home.files(for: file.session).log
    guard file.isOpen, let status = try FileStatus(path), status.length > 0 else { return nil }
    let content = try FileContent(path)
    let length = StreamOffset(status.length)
    guard try length >= context.manifest.entry(file.session)?.sent ?? .zero,
      try !content.head().starts(with: GapLine.startOfLog)
    else { return nil }
    var file = file
    file.source.length = .zero
    file.seen = file.source.position(of: length)
    let hasSpan = file.source.base == 0 || status.length >= Link.span
    file.link = hasSpan ? try content.link(before: status.length) : nil
    return file
  }

  /// Length of the sent content that a candidate still holds, by the hashes of whole segments.
  func length(of file: AttachedFile, in candidate: AttachCandidate) throws -> Int64 {
    let content = try FileContent(candidate.path)
    guard try candidate.form == nil && content.hasHead(of: file),
      try SentBytes(file.session, context)?.isBaseIn(content) ?? true
    else { return 0 }
    let entry = try context.manifest.entry(file.session)
    var names = entry?.segments.keys.filter { $0.generation == entry?.generation } ?? []
    let path = context.home.files(for: file.session).sidecar
    if names.isEmpty, let sidecar = try? Sidecar.load(path) {
      names = (sidecar.objects ?? []).compactMap(SegmentName.init)
    }
    guard let log = try SentContent.view(of: file, in: content, context) else { return 0 }
    var end = StreamOffset.zero
    for name in names.sorted(by: { $0.range.lowerBound < $1.range.lowerBound }) {
      guard name.range.lowerBound == end,
        file.source.position(of: name.range.upperBound) <= candidate.status.length,
        try name.matches(log)
      else { break }
      end = name.range.upperBound
    }
    return end == 0 ? 0 : file.source.position(of: end)
  }

  /// The missing file that has come back as a candidate.
  ///
  /// Content written after the loss makes it another file, even if similar: a job may log the same
  /// lines each day.
  ///
  /// - Throws: errors of the home and its cache, also when the disk is too full to unpack the file.
  func returned(
    _ candidate: AttachCandidate, among gone: [AttachedFile]
  ) throws -> AttachedFile? {
    let possible = gone.filter {
      candidate.status.modified < $0.changed - AttachObservation.margin
        && $0.mayBe(at: candidate.path)
    }
    guard !possible.isEmpty, let content = try? FileContent(candidate.path),
      let head = try? content.head()
    else { return nil }
    let length = candidate.form == nil ? candidate.status.length : .max
    return try possible.filter { $0.source.isHead(head) && $0.seen <= length }
      .sorted { $0.seen > $1.seen }.prefix(RotationTargets.mostCompared)
      .first { file in
        // If only the head is known, the length must match too.
        if file.link == nil, (try? content.reaches(beyond: file.seen)) != false { return false }
        return try (try? content.reaches(beyond: file.seen - 1)) == true
          && (try? continues(file, content)) == true && holdsSent(file, content)
      }
  }

  /// Whether content is not known to differ from what was sent of a file; once its session has left
  /// this machine, first and last bytes have to do.
  private func holdsSent(_ file: AttachedFile, _ content: FileContent) throws -> Bool {
    guard !file.isCompressed, let sent = try SentBytes(file.session, context) else { return true }
    do {
      return try areUnpacked(sent, in: content, before: file.seen)
    } catch let error as SystemError where error.path == content.path {
      return false
    }
  }
}

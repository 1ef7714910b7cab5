import Delta
import Platform
import Replica
import SessionLog

/// Rebuilds the cache of attached files from the sidecars.
extension Attacher {
  /// Rebuilds the cache after an unfinished pass, a reboot or its loss, and restores lost sidecars.
  ///
  /// A pass that another process has not finished yet looks the same: only the home's lock tells
  /// them apart.
  ///
  /// - Parameter lock: the home's lock; nil to take it if necessary.
  /// - Returns: false if the cache is outdated, and another process has the lock.
  func isCurrent(holding lock: HomeLock?) throws -> Bool {
    let (pass, isLatest) = (try files.pass(), try files.isLatest())
    let isOutdated = pass.isDirty || pass.boot != context.machine.bootId || !isLatest
    let lost = try visitedWithoutSidecar()
    guard isOutdated || !lost.isEmpty else { return true }
    guard let lock = try lock ?? HomeLock.acquire(context.home) else { return false }
    for file in lost { try restoreSidecar(of: file) }
    // What says how much was sent may have been put back together with it.
    if !isLatest { try context.manifest.distrustSessions() }
    if isOutdated { try rebuild(holding: lock) }
    return true
  }

  /// Reads the sidecars, and keeps the rows that only the cache has: those of deleted sessions, and
  /// of files read to their end.
  private func rebuild(holding lock: HomeLock) throws {
    lock.expect(context.home)
    for file in try lost(among: files.all()) { try restoreSidecar(of: file) }
    let before = try files.all()
    var known = Dictionary(uniqueKeysWithValues: before.map { ($0.session, $0) })
    var continued: [SessionID: Int64] = [:]
    var unknown: [String] = []
    for day in try context.home.days() {
      for session in try context.home.sessions(day: day) {
        guard let sidecar = try readable(session), let source = sidecar.source else { continue }
        let file = try file(sidecar, source, before: known[session])
        if file != nil, known[session] == nil {
          unknown.append(context.home.files(for: session).sidecar)
        }
        known[session] = file
        if let former = sidecar.continues, source.base > 0 { continued[former] = source.base }
      }
    }
    // Of several sessions that read one file, one after another, only the last continues.
    for (session, end) in continued.sorted(by: { $0.key < $1.key }) {
      guard let file = known[session] else { continue }
      // A row that says open without a session is older than its end.
      let isContinued =
        file.source.length.map { file.source.position(of: $0) == end }
        ?? !LocalSession(context.home, session).hasSidecar
      guard isContinued else { continue }
      if !file.isGone, isSealed(session) { try markGone(session) }
      known[session] = nil
    }
    // A pass that died may have left a sidecar that does not survive a power failure. Its row would
    // then pass for that of a deleted session, whose file is not sent again.
    try AtomicFile.synchronize(unknown)
    try files.replace(withoutRivals(Array(known.values)))
    // What has not been sent counts as unread, whatever the consent was.
    try files.save(
      AttachedFiles.Pass(
        consent: context.consent, sources: files.pass().sources, attached: attached(),
        boot: context.machine.bootId, isDirty: false))
  }

  /// Since when the sources are searched; if that is lost, since the first session that is left.
  private func attached() throws -> [String: Timestamp] {
    let known = try files.pass().attached
    guard known.isEmpty, let first = try files.all().map(\.session.startedAt).min() else {
      return known
    }
    return Dictionary(
      sources.map { ($0.path.description, first) }, uniquingKeysWith: { first, _ in first })
  }

  /// A session's sidecar; nil if it is damaged, or was deleted meanwhile.
  ///
  /// - Throws: ``Platform/SystemError`` if that is unknown: without the session its file would be
  ///   sent again.
  private func readable(_ session: SessionID) throws -> Sidecar? {
    do {
      return try Sidecar.load(context.home.files(for: session).sidecar)
    } catch is SidecarError {
      return nil
    } catch let error as SystemError where error.isNotFound {
      return nil
    }
  }

  /// Whether a session is on this machine and sealed; a file's record outlives its session.
  private func isSealed(_ session: SessionID) -> Bool {
    (try? Sidecar.load(context.home.files(for: session).sidecar))?.seal != nil
  }

  /// A file as its sidecar describes it; nil if the session has to begin again.
  private func file(
    _ sidecar: Sidecar, _ source: Sidecar.Source, before: AttachedFile?
  ) throws -> AttachedFile? {
    let session = sidecar.sessionId
    let local = LocalSession(context.home, session)
    if sidecar.seal == nil, source.length == 0, try local.openLog(source) == nil {
      // The pass died before it unpacked the file, which this pass finds again.
      try local.removeTraces()
      return nil
    }
    var file = try self.file(sidecar, source, local, before: before)
    if let before, before.isSameEnd(as: file) {
      (file.seen, file.link, file.isCompressed) = (before.seen, before.link, before.isCompressed)
    }
    guard file.isGone else { return file }
    // A sealed file was last known to exist at its seal.
    let last = sidecar.seal?.sealedAt ?? sidecar.endedAt ?? sidecar.startedAt
    file.changed = before.flatMap { $0.isGone ? $0.changed : nil } ?? FileTime(last)
    return file
  }

  private func file(
    _ sidecar: Sidecar, _ source: Sidecar.Source, _ local: LocalSession, before: AttachedFile?
  ) throws -> AttachedFile {
    let known = try context.manifest.entry(local.session)
    let isRewritten = known.map { $0.generation != sidecar.generation ?? 1 } ?? false
    let entry = known.flatMap { $0.isDirty || isRewritten ? nil : $0 }
    let sent = source.length == nil ? entry?.sent ?? .zero : .zero
    var link: Link?
    if source.length == nil {
      if let before, !isRewritten, before.isOpen(like: source),
        let file = open(before, at: source, upTo: source.position(of: sent))
      {
        return file
      }
      if let entry, entry.link(in: source) != nil {
        link = try self.link(of: sidecar, local, entry)
      }
    }
    var end = source.length ?? sent
    if source.length == 0 {
      // Everything unpacked is in the home's log.
      let length = try local.apparentLogBytes()
      end = sidecar.seal?.length ?? .zero + length
      if end == .zero + length, source.base == 0 || length >= ByteCount(Link.span) {
        link = try? FileContent(local.files.log).link(before: length.bytes)
      }
    }
    return AttachedFile(
      session: local.session, source: source, seen: source.position(of: end), link: link,
      changed: .epoch, isCompressed: CompressedFile.form(of: source.path) != nil,
      idleAt: context.now() + LogSource.defaultIdleEnd)
  }

  /// An open file by a row of the former cache, which knows its last bytes as they are in the file.
  ///
  /// - Parameter end: the offset in the file up to which it was sent; what follows counts as unread.
  /// - Returns: nil if the row knows less: other files may have its bytes, and go on differently.
  private func open(
    _ before: AttachedFile, at source: Sidecar.Source, upTo end: Int64
  ) -> AttachedFile? {
    guard before.seen >= end else { return nil }
    var file = before
    file.source.takePlace(of: source)
    file.changed = .epoch
    file.idleAt = context.now() + LogSource.defaultIdleEnd
    if let content = try? FileContent(source.path), (try? content.continues(before)) == true,
      let link = try? content.link(before: end)
    {
      (file.seen, file.link) = (end, link)
    }
    return file
  }

  /// The fingerprint at the end of the sent bytes; that of the file's own bytes if redaction left
  /// them unchanged.
  private func link(
    of sidecar: Sidecar, _ local: LocalSession, _ entry: UploadCheckpoint
  ) throws -> Link {
    // All from one open file: its path may lead to another one at any moment, and it may be cut.
    guard let source = sidecar.source, let content = try? FileContent(source.path),
      let log = content.log(from: source.base),
      local.sentLink(of: log, sidecar, context, before: entry.sent) == entry.link
    else { return entry.link }
    return (try? content.link(before: source.position(of: entry.sent))) ?? entry.link
  }

  /// Keeps one of several ended sessions that read the same file from its beginning.
  ///
  /// The others with the same number were displaced: their files are elsewhere. So may be that of an open
  /// one of which less is known, which the observation finds out.
  private func withoutRivals(_ files: [AttachedFile]) throws -> [AttachedFile] {
    var left = files.filter(\.isGone)
    for (_, rivals) in Dictionary(grouping: files.filter { !$0.isGone }, by: \.number) {
      guard rivals.count > 1 else {
        left += rivals
        continue
      }
      func rank(_ file: AttachedFile) -> (Int64, Int64, Int, SessionID) {
        (file.source.base, file.seen, file.isOpen ? 1 : 0, file.session)
      }
      let readers = rivals.filter(Self.isRead).sorted { rank($0) < rank($1) }
      let superfluous = Set(readers.dropLast().filter { !$0.isOpen }.map(\.session))
      left += rivals.filter { !superfluous.contains($0.session) }
    }
    return left
  }

  private static func isRead(_ file: AttachedFile) -> Bool {
    (try? file.isInPlace()) == true
      && (try? FileContent(file.source.path).continues(file)) == true
  }
}

extension AttachedFile {
  /// Whether it is what a sidecar says of an open file, with its last bytes and at least as many first ones.
  fileprivate func isOpen(like source: Sidecar.Source) -> Bool {
    isOpen && !isGone && !isCompressed && link != nil && self.source.base == source.base
      && (self.source.headLength > source.headLength
        || self.source.headLength == source.headLength && self.source.headHash == source.headHash)
  }

  /// Whether both end at the same offset of the same file.
  fileprivate func isSameEnd(as other: AttachedFile) -> Bool {
    source.base == other.source.base && source.length == other.source.length && !isOpen
      && source.headLength == other.source.headLength && source.headHash == other.source.headHash
  }
}

import Delta
import Foundation
import LogRecords
import Logging
import Platform
import Replica
package import SessionLog

/// Turns logs written by other programs into sessions, and ends them.
///
/// It does for a foreign file what the recorder does for a program: it writes sidecars and markers,
/// and everything after that is common to both.
package struct Attacher {
  let context: SyncContext
  let sources: [LogSource]
  let files: AttachedFiles

  /// Makes an attacher.
  ///
  /// - Throws: ``CacheError`` when the cache can neither be read nor replaced.
  package init(_ context: SyncContext, sources: [LogSource]) throws {
    self.context = context
    self.sources = sources
    files = try AttachedFiles(context.home)
  }

  /// Whether a home has ever had attached files, according to its cache.
  package static func hasRemembered(_ home: Home) -> Bool { AttachedFiles.exist(in: home) }

  /// Plans the changes since the last pass.
  ///
  /// Changes nothing but an outdated cache, which it rebuilds, and lost sidecars, which it writes
  /// again; while another process has the home's lock, and may be changing it, everything is left to
  /// the next pass.
  ///
  /// - Parameter lock: the home's lock; nil to take it if the cache has to be rebuilt.
  /// - Throws: when the cache cannot be read, or the disk is full; unreadable files become problems
  ///   of the plan. If they are the home's, it has no changes.
  package func plan(holding lock: HomeLock? = nil) throws -> AttachPlan {
    try discardingDamage(holding: lock) { lock in
      let planner = AttachPlanner(context: context, sources: sources, files: files)
      do {
        return try isCurrent(holding: lock) ? planner.plan() : planner.nothing()
      } catch let error as SystemError where !error.isDiskFull {
        return try planner.nothing(because: error)
      }
    }
  }

  /// Runs an operation that reads the cache, and repeats it with a new cache if the old one is
  /// damaged and no other process has the home's lock.
  func discardingDamage<Result>(
    holding lock: HomeLock?, _ body: (HomeLock?) throws -> Result
  ) throws -> Result {
    do {
      return try body(lock)
    } catch let error as DamagedRow {
      guard let lock = try lock ?? HomeLock.acquire(context.home) else { throw error }
      try files.discard()
      return try body(lock)
    }
  }

  /// Carries out a plan.
  ///
  /// - Returns: paths that could not be read, with the reason, except those the last pass reported
  ///   already; everything else is done.
  /// - Throws: when the cache cannot be written.
  @discardableResult
  package func execute(
    _ plan: AttachPlan, holding lock: HomeLock
  ) throws -> [String: String] {
    lock.expect(context.home)
    var (plan, pass, problems) = (plan, plan.pass, plan.problems)
    do {
      try start(plan)
    } catch let error as SystemError where !error.isDiskFull {
      (plan.changes, pass) = ([], try files.pass())
      problems[error.path] = .unreadable(error.reason)
    }
    if context.logger.logLevel <= .info {
      for line in plan.descriptions { context.logger.info("\(line)") }
    }
    for change in plan.changes {
      do {
        try carryOut(change, noting: &plan.linked)
      } catch let error where error is SystemError || error is Moved {
        if let error = error as? SystemError {
          problems[error.path] = .unreadable(error.reason)
          pass.isDirty = pass.isDirty || mayBeHalfMade(change, error)
        }
        // Make the next pass examine every file.
        pass.since = .epoch
        pass.fullAt = .epoch
      }
    }
    let before = try files.problems()
    if problems != before { try files.save(problems) }
    try files.save(plan.awaited)
    try files.save(linked: plan.linked)
    try files.save(pass)
    return problems.filter { before[$0.key] != $0.value }.compactMapValues(\.reason)
  }

  /// Whether a change that failed may have reached a sidecar without the cache: not if the attached
  /// file itself cannot be read, which comes first, nor if its path or the right is missing.
  private func mayBeHalfMade(_ change: AttachPlan.Change, _ error: SystemError) -> Bool {
    !error.isNotFound && !error.isDenied && error.path != change.path
  }

  /// Makes the next pass rebuild the cache should this one die.
  func start(_ plan: AttachPlan) throws {
    if !plan.descriptions.isEmpty { try files.distrust() }
  }

  /// Log bytes that a plan's changes add to an upload.
  ///
  /// - Throws: ``CacheError``.
  package func growth(_ plan: AttachPlan, besides upload: UploadPlan) throws -> AttachPlan.Growth {
    let planned = Dictionary(upload.items.map { ($0.session, $0.length) }) { first, _ in first }
    let failed = try unreadable()
    var growth = try plan.growth(failing: failed) {
      try planned[$0] ?? context.manifest.sentBytes(of: $0)
    }
    for (path, problem) in plan.problems.sorted(by: { $0.key < $1.key }) {
      guard let reason = problem.reason, !FileStatus.isAbsent(path) else { continue }
      let seen = try files.here(at: path).map(\.seen).max() ?? 0
      let status = try? FileStatus(path)
      let isLog = status?.kind == .file && !path.hasPrefix(context.home.path + "/")
      let unread = isLog ? max(0, (status?.length ?? 0) - seen) : 0
      growth.unreadable.append(("\(path): \(reason)", ByteCount(unread)))
    }
    return growth
  }

  /// The paths that could not be read at the last attempt although they are there, with the reason.
  ///
  /// - Throws: when the cache cannot be read.
  package func unreadable() throws -> [String: String] {
    try known().filter { path, problem in
      // A file that was rewritten can be read.
      try !FileStatus.isAbsent(path)
        && !files.here(at: path).contains { problem == .doubted($0.session) }
    }.compactMapValues(\.reason)
  }

  /// Paths that could not be read at the last attempt, with the reason.
  package func problems() throws -> [String: String] { try known().compactMapValues(\.reason) }

  private func known() throws -> [String: AttachProblem] {
    try discardingDamage(holding: nil) { _ in try files.problems() }
  }

  /// Carries out a change.
  ///
  /// - Parameter linked: gets the session that begins with a file to which a link leads.
  func carryOut(_ change: AttachPlan.Change, noting linked: inout Set<SessionID>) throws {
    switch change {
    case .begin(let new):
      let session = try begin(new)
      if new.isLinked { linked.insert(session) }
    case .grow(let file):
      guard try isHere(file) else { return }
      try context.home.mark(file.session)
      try files.save(file)
    case .move(var file):
      guard try isHere(file) else { return }
      if !LocalSession(context.home, file.session).isSealed { try context.home.mark(file.session) }
      try update(file.session) { sidecar in
        file.keepStream(of: sidecar)
        sidecar.source = file.source
      }
      try files.save(file)
    case .reopen(let file):
      guard try isHere(file) else { return }
      try context.home.mark(file.session)
      try update(file.session) { sidecar in
        sidecar.source = file.source
        sidecar.status = .active
        sidecar.cause = nil
        sidecar.endedAt = nil
      }
      try files.save(file)
    case .rewrite(let file):
      guard try isHere(file) else { return }
      try context.home.mark(file.session)
      try update(file.session) { sidecar in
        sidecar.source = file.source
        sidecar.generation = (sidecar.generation ?? 1) + 1
      }
      try files.save(file)
    case .end(let file, let end, let rest):
      guard try isHere(file) else { return }
      try self.end(file, end, rest)
    case .save(let file): try files.save(file)
    case .gone(var file):
      try markGone(file.session)
      file.lose(at: context.now())
      try files.save(file)
    case .forget(let file): try files.remove(file.session)
    }
  }

  /// Allows the local copy to be deleted like any other: only the cache needs to know its file, for
  /// a while.
  func markGone(_ session: SessionID) throws {
    guard try LocalSession(context.home, session).isHere() else { return }
    try update(session) { $0.source?.lose() }
  }

  /// Whether a session is still on this machine.
  ///
  /// If only its sidecar was lost or damaged, that is restored. If it was deleted, its row ends at the last read
  /// offset: later growth of the file belongs to another session.
  private func isHere(_ file: AttachedFile) throws -> Bool {
    if try restoreIfLost(file.session) { return true }
    let isHere = try LocalSession(context.home, file.session).isHere()
    guard !isHere, var known = try files.of(file.session) else { return isHere }
    known.source.takePlace(of: file.source)
    known.source.length = known.source.length ?? known.source.offset(of: known.seen)
    try files.save(known)
    if known.seen != file.seen { throw Moved() }
    return false
  }

  // MARK: Beginning

  /// Begins the session of a file.
  ///
  /// - Throws: ``Moved`` if it is no longer the one that was seen; ``Platform/SystemError``.
  @discardableResult
  func begin(_ new: AttachPlan.Beginning) throws -> SessionID {
    // The session that has ended according to the plan may only have lost its sidecar.
    if let replaced = new.replaces, try restoreIfLost(replaced) { throw Moved() }
    // Read everything from one open file: its path may lead to another one later.
    let limit = UnpackLimit(maximum: new.source.maxSize)
    let content = try FileContent(new.path, limit: limit)
    let status = try content.status()
    let isCompressed = CompressedFile.form(of: new.path) != nil
    guard status.device == new.status.device, status.inode == new.status.inode,
      isCompressed || status.length >= max(new.base, new.status.length)
    else { throw Moved() }
    if isCompressed, let refusal = try files.refusal(of: new.path, status, limit) { throw refusal }
    let head = try content.head()
    let times = try recordTimes(
      content, new.base..<(isCompressed ? .max : status.length), status.modifiedAt)
    let session = SessionID.make(
      at: min(times.first, context.now()), by: context.machine)
    let local = context.home.files(for: session)

    // A compressed or empty file has its log in the home, so nothing of the file itself is read.
    let length: StreamOffset? =
      isCompressed ? .zero : new.end == nil ? nil : StreamOffset(status.length - new.base)
    let source = Sidecar.Source(
      path: new.path, device: status.device, inode: status.inode, owner: status.owner,
      base: new.base, length: length, headLength: head.count,
      headHash: Sidecar.Source.headHash(of: head))
    var seen = status.length
    var link = isCompressed ? nil : try content.link(before: seen)
    // Without its first or last bytes it would pass for an empty file: it was cut meanwhile.
    guard isCompressed || link != nil && head.count >= min(seen, Int64(FileContent.headLength))
    else { throw Moved() }
    // Nothing below reads the file, except to unpack it.
    try files.distrust()
    try context.home.mark(session)
    try Directory.make(local.directory)
    var sidecar = self.sidecar(
      session, reading: source, as: new.source, owner: status.owner,
      startedAt: min(times.first, context.now()))
    sidecar.continues = new.continues
    if let end = new.end {
      sidecar.status = .terminated
      sidecar.cause = .file(end)
      sidecar.endedAt = min(times.last, context.now())
    }
    try sidecar.save(local.sidecar)
    // Write the log after the sidecar: a log without one would pass for a recorder's.
    if length == 0 {
      do {
        if isCompressed {
          seen = try new.base + content.unpack(to: local.log, from: new.base).bytes
          link = try content.link(before: seen)
        } else {
          try AtomicFile.write([], to: local.log)
        }
      } catch {
        try LocalSession(context.home, session).removeTraces()
        if isCompressed, let error = error as? SystemError {
          try files.refuse(new.path, status, limit, because: error)
        }
        throw error
      }
    }

    try files.save(
      AttachedFile(
        session: session, source: source, seen: seen,
        link: link, changed: status.changed, isCompressed: isCompressed,
        idleAt: status.idle(for: new.source.idleEnd, seenAt: context.now())))
    if let replaced = new.replaces {
      try markGone(replaced)
      try files.remove(replaced)
    }
    return session
  }

  /// Thrown when a file is rotated away at this moment; the next pass handles it.
  struct Moved: Error {}

  /// Times of a log's first and last record: from the records if their format is known, else from
  /// the file.
  ///
  /// Records dated after the file's last change come from another clock or time zone, and are
  /// ignored.
  func recordTimes(
    _ content: FileContent, _ range: Range<Int64>, _ modified: Timestamp
  ) throws -> (first: Timestamp, last: Timestamp) {
    let length = Int64(FileContent.headLength)
    let head = try content.read(range.lowerBound..<min(range.upperBound, range.lowerBound + length))
    var tail: [UInt8] = []
    if range.upperBound != .max {
      let start = max(range.lowerBound + Int64(head.count), range.upperBound - length)
      tail = try content.read(start..<max(start, range.upperBound))
    }
    let span = head.withUnsafeBytes { head in
      tail.withUnsafeBytes { RecordSpan(head: head, tail: $0, reference: modified) }
    }
    guard let span, span.last <= modified else { return (modified, modified) }
    return (span.first, range.upperBound == .max ? modified : span.last)
  }

  // MARK: Ending

  private func end(_ file: AttachedFile, _ end: ExitCause.FileEnd, _ rest: AttachPlan.Rest?) throws
  {
    var file = file
    let log = context.home.files(for: file.session).log
    switch rest {
    case nil:
      file.source.length = file.source.offset(of: file.seen)
      // Remove a log that a killed pass may have written for another end.
      try File.remove(log)
    case .gap(let line):
      file.source.length = file.source.offset(of: file.seen)
      file.lose(at: context.now())
      // Whether the last sent line had its newline is no longer known. ``GapLine/startOfLog`` is how
      // others recognize it.
      try AtomicFile.write(line?.log ?? [], to: log)
    case .unpacked(let path, let status):
      let content = try FileContent(path)
      guard try content.status() == status else { throw Moved() }
      let length = try content.unpack(to: log, from: file.source.base)
      file.source.length = 0
      file.seen = file.source.position(of: .zero + length)
      file.link = try content.link(before: file.seen)
    case .kept:
      file.lose(at: context.now())
      try AtomicFile.syncDirectory(of: log)
    }
    try context.home.mark(file.session)
    let ended = try endTime(file, rest)
    let sent = try context.manifest.entry(file.session)
    if case .gap? = rest, let sent {
      try LocalSession(context.home, file.session).withdrawRedaction(beyond: sent.generation)
    }
    try update(file.session) { sidecar in
      sidecar.source = file.source
      // A rewrite that can no longer be read does not count.
      if case .gap? = rest, let sent {
        sidecar.generation = sent.generation == 1 ? nil : sent.generation
      }
      sidecar.status = .terminated
      sidecar.cause = .file(end)
      sidecar.endedAt = min(ended, context.now())
    }
    try files.save(file)
  }

  /// Time of the last record, if readable.
  private func endTime(_ file: AttachedFile, _ rest: AttachPlan.Rest?) throws -> Timestamp {
    switch rest {
    case .gap, .kept: return context.now()
    case nil, .unpacked: break
    }
    guard let modified = try FileStatus(file.source.path)?.modifiedAt else { return context.now() }
    if case .unpacked? = rest {
      let log = context.home.files(for: file.session).log
      let length = file.seen - file.source.base
      return try recordTimes(FileContent(log), 0..<length, modified).last
    }
    let content = try FileContent(file.source.path)
    return try recordTimes(content, file.source.base..<file.seen, modified).last
  }

  func update(_ session: SessionID, _ change: (inout Sidecar) -> Void) throws {
    let local = LocalSession(context.home, session)
    var (sidecar, _) = try local.sidecar(device: context.device)
    change(&sidecar)
    try Directory.make(local.files.directory)
    try sidecar.save(local.files.sidecar)
  }
}

extension SystemError {
  /// The reason alone, without operation and path.
  var reason: String {
    switch (operation, errno) {
    case ("open", _): "cannot be opened: \(explanation)"
    case ("unpack", Number.malformed): "cannot be unpacked: it is damaged, or not complete"
    case (CompressedFile.tooLarge, _):
      "cannot be unpacked: it becomes larger than 'max-size' or than its compressed size allows"
    case (SourceScanner.unnamed, _): "cannot be used: its name is not valid UTF-8"
    default: "cannot be read: \(explanation)"
    }
  }
}

import Foundation
import Platform
import Replica
import SessionLog

/// One observation of attached files: determines their changes, and reads only changed files.
///
/// Content identifies a file: its first bytes, those before the last read offset and, where they
/// may have been rewritten, the bytes between. The inode number only says where to look first.
struct AttachObservation {
  /// The resulting changes to sessions.
  private(set) var plan = AttachPlan()
  /// Folders in which something was renamed or truncated during the observation, so that a file may
  /// have been seen twice or not at all.
  private(set) var disturbed: Set<String> = []
  /// Sessions whose files appear to be gone, with the folders the files were in.
  var losses: [SessionID: String] {
    let lost = plan.changes.compactMap { change in
      change.loss.map { ($0.session, change.folder ?? "/") }
    }
    return Dictionary(lost, uniquingKeysWith: { first, _ in first })
  }
  /// Folders in which something was renamed, or a file seems to be gone.
  var doubtful: Set<String> { disturbed.union(losses.values) }
  /// The losses in whose folders nothing was renamed during the observation.
  var undisturbedLosses: Set<SessionID> {
    Set(losses.filter { !disturbed.contains($0.value) }.keys)
  }

  let context: SyncContext
  let sources: [LogSource]
  let files: AttachedFiles
  let sent: SentFiles

  /// What the last pass recorded.
  let last: AttachedFiles.Pass
  /// Whether all files are looked at.
  private let isFull: Bool
  /// Whether the last pass searched other sources.
  let isReconfigured: Bool
  /// Only files changed since then are read.
  let since: FileTime
  /// Matching files that have changed, by path.
  var changed: [String: AttachCandidate] = [:]
  /// Folders that were read.
  var folders: [String: SourceScanner.Folder] = [:]
  /// Folders in which logs were known, and which cannot be read at present.
  var unreadable: Set<String> = []
  /// Known files that are no longer at their path.
  var displaced: [AttachedFile] = []
  /// Files that could not be read when they were compared with known ones, by path.
  var unread: [String: Unread] = [:]
  /// Sessions whose files hold other bytes than were sent, between the same first and last ones.
  var edited: Set<SessionID> = []
  /// By folder, the owners of files that were truncated or removed after they were looked at; root
  /// for an unknown one.
  private(set) var unsettled: [String: Set<UInt32>] = [:]
  /// Files without a known session.
  var fresh: [AttachCandidate] = []
  /// The known files of folders, as far as they were asked for; see ``known(in:)``.
  var knownFolders: [String: KnownFolder] = [:]
  /// By folder, the known files that are gone; nil until asked for.
  var gone: [String: [AttachedFile]]?

  /// Files that changed within this time of a pass's start are read again: the kernel's clock for
  /// files is coarser than ours.
  static let margin = Duration.seconds(2)
  /// How long a file that may never be readable is awaited after its last change.
  static let patience = Duration.hours(1)
  /// How often all files are compared with the cache: change times on a network file system come
  /// from another machine.
  private static let fullPeriod = Duration.hours(1)

  /// Observes the files of a pass.
  ///
  /// - Throws: errors of the home and its cache; for a file that is gone since its folder was read.
  static func observe(for planner: AttachPlanner) throws -> AttachObservation {
    var observation = try AttachObservation(planner)
    try observation.observe()
    return observation
  }

  /// Decides which files to read; reads none.
  private init(_ planner: AttachPlanner) throws {
    (context, sources, files) = (planner.context, planner.sources, planner.files)
    sent = SentFiles(
      context: context, problems: try files.problems(), awaited: try files.awaited(),
      budget: planner.budget)
    let last = try files.pass()
    let now = FileTime(context.now())
    // A change of either makes all files be looked at.
    let description = "\(sources)"
    let isFull =
      last.consent != context.consent || last.sources != description || now < last.since
      || now - last.fullAt >= Self.fullPeriod
    (self.last, self.isFull) = (last, isFull)
    // A rebuilt cache does not know.
    isReconfigured = !last.sources.isEmpty && last.sources != description
    since = isFull ? .epoch : max(.epoch, last.since - Self.margin)
    let attached = Dictionary(
      sources.map(\.path.description).map { pattern in
        (pattern, min(last.attached[pattern] ?? context.now(), context.now()))
      }, uniquingKeysWith: { first, _ in first })
    plan.pass = AttachedFiles.Pass(
      since: now, fullAt: isFull ? now : last.fullAt, consent: context.consent,
      sources: description, attached: attached, boot: context.machine.bootId, isDirty: false)
  }

  private mutating func observe() throws {
    try scan()
    try sortChanged()
    try findVanished()
    try leaveUnsearched()
    try leaveUnlinked()
    try matchDisplaced()
    try leaveCopies()
    try matchGone()
    try beginFresh()
    try endDue()
    // If the last consent is unknown, too: it may have been for metadata.
    if context.consent == .logs, [nil, .metadata].contains(last.consent) { try continueWithheld() }
    if isFull {
      try countIdle()
      try forgetGone()
    }
    let touched = Set(plan.changes.compactMap(\.folder))
    disturbed = Set(unsettled.keys).union(
      touched.filter { path in
        folders[path].map { $0.fingerprint != FolderFingerprint(of: path) } ?? false
      })
  }

  /// Takes a step that concerns a file.
  ///
  /// If the file is gone or shorter since it was looked at, its owner's files in its folder are left to
  /// the next observation; if it cannot be looked at, that is reported.
  ///
  /// - Parameters:
  ///   - folder: where files are left to the next observation; by default the folder of the path.
  ///   - owner: nil if it is unknown.
  /// - Returns: nil in these cases.
  mutating func attempt<Result>(
    at path: String, in folder: String? = nil, of owner: UInt32?,
    _ step: (inout Self) throws -> Result
  ) throws -> Result? {
    let folder = folder ?? AttachedFile.folder(of: path)
    do {
      return try step(&self)
    } catch let error as SystemError where !error.path.hasPrefix(context.home.path + "/") {
      if error.isNotFound {
        unsettle(folder, of: owner)
      } else {
        report(error.reason, at: path)
      }
      return nil
    } catch let error as ReplicaError where error.code == .localLogChanged {
      unsettle(folder, of: owner)
      return nil
    }
  }

  /// Notes that a file in a folder was truncated or removed after it was looked at.
  mutating func unsettle(_ folder: String, of owner: UInt32?) {
    unsettled[folder, default: []].insert(owner ?? 0)
  }

  mutating func add(_ change: AttachPlan.Change) { plan.changes.append(change) }

  /// Makes the upload send the logs of open sessions of which it has sent only the metadata, whether
  /// they grow or not.
  private mutating func continueWithheld() throws {
    let touched = Set(plan.changes.compactMap(\.session))
    for file in try files.all() where try !touched.contains(file.session) && sent.isOpen(file) {
      add(.grow(file))
    }
  }

  /// Defers these paths to the next pass.
  mutating func postpone(_ paths: Set<String>) {
    plan.changes.removeAll { change in
      if case .grow(let file) = change { paths.contains(file.source.path) } else { false }
    }
    // Their change times will be older than the next pass's start.
    plan.pass.since = min(plan.pass.since, since)
  }

  /// Makes the next pass look at files that have not changed since, either.
  mutating func lookFurther() { plan.pass.since = .epoch }

  /// Notes files that cannot be read, and for which sessions wait.
  mutating func wait(for files: some Sequence<AwaitedFile>) { plan.awaited.formUnion(files) }

  /// Notes that a link leads to the file of a session.
  mutating func noteLinked(_ session: SessionID) { plan.linked.insert(session) }

  /// Whether a file changed within a time.
  ///
  /// A change time far ahead is that of a clock that was wrong.
  func hasChanged(_ status: FileStatus, within time: Duration) -> Bool {
    let age = FileTime(context.now()) - status.changed
    return age < time && age > .zero - time
  }

  mutating func report(_ reason: String, at path: String) {
    plan.problems[path] = .unreadable(reason)
  }

  // MARK: Scanning

  private mutating func scan() throws {
    let (sources, files) = (sources, files)
    let known = try files.folders()
    let inside = Dictionary(grouping: known, by: AttachedFile.folder)
    // A link leads to a file in the folder; no pattern has to name those in it.
    func oldFolders(in folder: String) throws -> [String] {
      try (inside[folder] ?? []).filter { old in
        guard !sources.contains(where: { $0.leads(to: old) }) else { return false }
        return try files.ever(in: old).contains {
          !LogSource.originals(of: $0.source.path).isEmpty
        }
      }
    }
    for source in sources { try scan(source) { try $0.run(oldFolders: oldFolders) } }
    for folder in known {
      for source in try self.sources(ofOldFolder: folder) {
        let owners = try owners(ofLogsAbove: folder)
        try scan(source) { try $0.readOldFolder(folder, owners: owners) }
      }
    }
    for path in plan.problems.keys where try !files.ever(in: path).isEmpty {
      unreadable.insert(path)
    }
    // What is moved there, and what is appended, may be older than the next pass's start.
    if !unreadable.isEmpty { lookFurther() }
  }

  private mutating func scan(
    _ source: LogSource, _ search: (SourceScanner) throws -> Void
  ) throws {
    let again = Set(sent.problems.keys)
    var (changed, folders, problems) = (changed, folders, plan.problems)
    try withoutActuallyEscaping({ (file: SourceScanner.File) in
      let isNew = changed[file.path].map { $0.isRotation && !file.isRotation } ?? true
      guard isNew, try again.contains(file.path) || !isUnchanged(file) else { return }
      changed[file.path] = AttachCandidate(
        path: file.path, status: file.status, source: source, isRotation: file.isRotation)
    }) { onFile in
      try search(
        SourceScanner(
          source: source, since: since, again: again, file: onFile,
          folder: { folders[$0, default: $1].add($1) },
          problem: { problems[$0.path] = .unreadable($0.reason) }))
    }
    (self.changed, self.folders, plan.problems) = (changed, folders, problems)
  }

  /// By path, the owners of known logs in the folder above another one, those moved there included.
  private func owners(ofLogsAbove folder: String) throws -> [String: Set<UInt32>] {
    var owners: [String: Set<UInt32>] = [:]
    for file in try files.ever(in: AttachedFile.folder(of: folder)) {
      owners[file.source.path, default: []].formUnion(file.source.owner.map { [$0] } ?? [])
    }
    for file in try files.ever(in: folder) {
      for path in LogSource.originalsAbove(file.source.path) {
        owners[path, default: []].formUnion(file.source.owner.map { [$0] } ?? [])
      }
    }
    return owners
  }

  /// The sources whose logs rotation has moved to a folder that their patterns do not lead to: a known
  /// log was found there.
  private func sources(ofOldFolder folder: String) throws -> [LogSource] {
    let sources = sources.filter { $0.isAbove(folder) && !$0.leads(to: folder) }
    guard !sources.isEmpty else { return [] }
    let paths = try files.ever(in: folder).map(\.source.path)
    return sources.filter { source in paths.contains(where: source.isRotatedFromAbove) }
  }

  /// Whether a folder was read only because rotation has moved logs there.
  func isOldFolder(_ folder: String) -> Bool { folders[folder]?.isOld ?? false }

  /// Whether a file's status equals that of the last read.
  private func isUnchanged(_ file: SourceScanner.File) throws -> Bool {
    let known = try files.here(at: file.path)
    return !known.isEmpty && known.allSatisfy { $0.isUnchanged(file.status) }
  }

  // MARK: Files that have changed

  private mutating func sortChanged() throws {
    for (path, found) in changed.sorted(by: { $0.key < $1.key }) {
      do {
        try sort(found)
      } catch let error as SystemError {
        // Gone since the folder was read; search for the file that was there.
        changed[path] = nil
        if !error.isNotFound { report(error.reason, at: path) }
      } catch let error as ReplicaError where error.code == .localLogChanged {
        unsettle(AttachedFile.folder(of: path), of: found.status.owner)
      }
    }
  }

  /// Separates files known at their path from those to be matched.
  private mutating func sort(_ candidate: AttachCandidate) throws {
    let before = try files.here(at: candidate.path)
    guard let known = try known(candidate, among: before) else {
      let isOld = isOldFolder(AttachedFile.folder(of: candidate.path))
      let sameNumber = try files.numbered(candidate.status).filter {
        $0.source.path != candidate.path
          && (!isOld || !candidate.isRotation || $0.mayBe(at: candidate.path))
      }
      // Another name of a file that is already read.
      // The owner of its folder can make this fail, which must not affect other users' files.
      if before.isEmpty, sameNumber.contains(where: { (try? $0.isInPlace()) == true }) { return }
      // Most are rotations from before the log was attached.
      if candidate.isRotation, before.isEmpty, sameNumber.isEmpty, try !isSuccessor(candidate) {
        return
      }
      displaced += sameNumber.filter { (try? $0.isInPlace()) == false }
      fresh.append(candidate)
      return
    }
    guard try sent.isEdited(known, at: candidate) else {
      return try continueFile(known, with: candidate)
    }
    if let rewritten = try rewritten(known, as: candidate) { return add(.rewrite(rewritten)) }
    edited.insert(known.session)
    displaced.append(known)
    fresh.append(candidate)
  }

  /// The known file that a candidate continues; others from the same path are displaced.
  ///
  /// File numbers are reused: among files with the same number, content decides.
  private mutating func known(
    _ candidate: AttachCandidate, among before: [AttachedFile]
  ) throws -> AttachedFile? {
    var here: [AttachedFile] = []
    for known in before {
      let mayBe =
        known.isAt(candidate.status)
        && (known.isCompressed || candidate.status.length >= known.seen)
      if try mayBe && sent.continues(known, FileContent(candidate.path))
        && !isOverwritten(known, candidate)
      {
        here.append(known)
      } else {
        displaced.append(known)
      }
    }
    return here.max { rank($0) < rank($1) }
  }

  /// Whether another log, of which more is known, has been rotated to the name of a file that seems to have
  /// grown: a reused number and a common heading do not prove that it is the same file.
  ///
  /// A pass that died may have recorded that the other one is there.
  private func isOverwritten(_ known: AttachedFile, _ candidate: AttachCandidate) throws -> Bool {
    guard candidate.form != nil || candidate.status.length > known.seen else { return false }
    let others =
      try files.here(at: candidate.path).filter { $0.source.base == known.source.base }
      + (LogSource.originals(of: candidate.path) + LogSource.originalsAbove(candidate.path))
      .flatMap { try files.here(at: $0) }
    return others.contains { other in
      guard other.session != known.session, other.seen > known.seen else { return false }
      return (try? sent.continues(other, FileContent(candidate.path))) == true
    }
  }

  /// Ranks sessions that read the same file: open ones first, then the latest.
  private func rank(_ file: AttachedFile) -> (Int, Int64) {
    (file.isOpen ? 1 : 0, file.source.base)
  }

  /// Continues a known file at the path where it was found, old or new.
  mutating func continueFile(
    _ known: AttachedFile, with candidate: AttachCandidate, isMoved: Bool = false
  ) throws {
    let isCompressed = candidate.form != nil
    let hasGrown = try hasGrown(known, candidate)
    let isOpen = try sent.isOpen(known)
    let isReopened =
      try hasGrown && !isCompressed && !isOpen && !known.isGone && sent.isPending(known)
    if hasGrown, !isOpen, !isReopened {
      // Bytes appended after the end belong to a new session.
      guard let source = source(of: candidate) else { return }
      add(
        .begin(
          .init(
            source: source, path: candidate.path, status: candidate.status, base: known.seen,
            continues: known.session, replaces: known.session,
            end: isCompressed ? .rotated : nil)))
      return
    }
    var file = known
    file.place(at: candidate.path, candidate.status)
    file.isCompressed = isCompressed
    file.changed = candidate.status.changed
    // Its last bytes may be known as they were sent, masked.
    let isLinkSent = known.changed == .epoch || known.isGone
    if file.seen > 0, isLinkSent && !hasGrown || isCompressed && file.link == nil {
      file.link = try FileContent(candidate.path).link(before: file.seen)
    }
    if hasGrown {
      let content = try FileContent(candidate.path)
      file.seen = candidate.status.length
      file.link = try content.link(before: file.seen)
      // Truncated since the observation; the next pass handles it.
      guard file.link != nil else { return }
      try file.takeHead(of: content)
      file.source.length = nil
      file.idleAt = candidate.status.idle(for: idleEnd(of: candidate), seenAt: context.now())
    }
    add(isReopened ? .reopen(file) : isMoved ? .move(file) : hasGrown ? .grow(file) : .save(file))
  }

  /// Whether a file has unread bytes; a compressed one may have got another member.
  private func hasGrown(_ known: AttachedFile, _ candidate: AttachCandidate) throws -> Bool {
    guard candidate.form != nil else { return candidate.status.length > known.seen }
    return try FileContent(candidate.path).reaches(beyond: known.seen)
  }

  /// The source of a file; for a rotation's target outside every pattern, the source of its folder, or one
  /// whose links lead there.
  func source(of candidate: AttachCandidate) -> LogSource? {
    candidate.source
      ?? sources.first {
        let folder = AttachedFile.folder(of: candidate.path)
        return folder == $0.path.root || $0.isAbove(folder)
      } ?? sources.first(where: \.followsLinks)
  }

  private func idleEnd(of candidate: AttachCandidate) -> Duration {
    source(of: candidate)?.idleEnd ?? LogSource.defaultIdleEnd
  }

  /// The file after a rewrite in place; nil if it is another log.
  func rewritten(_ file: AttachedFile, as candidate: AttachCandidate) throws -> AttachedFile? {
    try sent.rewritten(file, as: candidate, idleEnd: idleEnd(of: candidate))
  }
}

import Foundation
import Replica
import SessionLog

/// Finds out what became of attached files, by looking at nothing that has not changed.
///
/// A file is known again by its content: its first bytes and those before the offset that was read
/// last. Its number in the file system only says where to look first.
struct AttachPlanner {
  let context: SyncContext
  let sources: [LogSource]
  let files: AttachedFiles

  /// Change times that are closer to the start of a pass than this, in nanoseconds, are looked at
  /// again: the kernel's clock for files ticks more coarsely than ours.
  private static let margin: Int64 = 2_000_000_000
  /// Every so often all files are compared with what is remembered, in nanoseconds: change times of a
  /// network file system are another machine's.
  private static let fullPeriod: Int64 = 3_600_000_000_000

  /// What was found in the folders.
  private struct Findings {
    var changed: [String: (status: FileStatus, source: LogSource)] = [:]
    var folders: [String: SourceScanner.Folder] = [:]
    var problems: [String: String] = [:]

    /// Whether a folder, or one that it is in, could not be read.
    func isUnreadable(_ folder: String) -> Bool {
      problems.keys.contains { folder == $0 || folder.hasPrefix($0 + "/") }
    }
  }

  /// A file that no session is known to read.
  private struct Candidate {
    let path: String
    let status: FileStatus
    /// The source that it matches; nil for a neighbour that only a rotation can have put there.
    let source: LogSource?
    /// From where on nobody has read it, where its beginning is known from another session.
    var base: Int64 = 0
    /// The session that was read at this path before.
    var before: AttachedFile?
  }

  /// Makes the plan again when a rotation got in between; where they follow each other without a
  /// pause, what they touch is left to the next pass.
  func plan() throws -> AttachPlan {
    for _ in 0..<Self.attempts {
      let (plan, restless) = try observe()
      if restless.isEmpty { return plan }
    }
    var (plan, restless) = try observe()
    plan.changes.removeAll {
      $0.path.map { restless.contains(AttachedFile.folder(of: $0)) } ?? false
    }
    if !restless.isEmpty { plan.pass.since = 0 }
    return plan
  }

  /// How often it is tried to see a folder without anything being renamed meanwhile.
  private static let attempts = 3

  /// Looks once.
  ///
  /// - Returns: the plan, and the folders in which something was renamed meanwhile, so that what was
  ///   seen under one name may be seen under another again, or not at all.
  private func observe() throws -> (plan: AttachPlan, restless: Set<String>) {
    let last = try files.pass()
    let now = context.now().milliseconds * 1_000_000
    let description = "\(sources)"
    let isFull =
      last.sources != description || now < last.since || now - last.fullAt >= Self.fullPeriod
    let since = isFull ? 0 : max(0, last.since - Self.margin)
    var plan = AttachPlan()
    plan.pass = AttachedFiles.Pass(
      since: now, fullAt: isFull ? now : last.fullAt, sources: description, isDirty: false)

    var findings = try scan(since: since)
    try lookAgain(at: files.problems().keys, &findings)

    var displaced: [AttachedFile] = []
    var fresh: [Candidate] = []
    var settled: Set<SessionID> = []
    for (path, found) in findings.changed.sorted(by: { $0.key < $1.key }) {
      do {
        try sort(
          path, found.status, found.source, &plan, displaced: &displaced, fresh: &fresh,
          settled: &settled)
      } catch let error as SystemError {
        // It has gone since the folder was read: what was read there before is looked for.
        findings.changed[path] = nil
        if !error.isNotFound { findings.problems[path] = error.reason }
      }
    }
    displaced += try vanished(&findings, since: since)
    var seen = settled
    displaced = displaced.filter { seen.insert($0.session).inserted }
    try match(displaced, &fresh, &plan, &settled, &findings)
    begin(try fresh.filter { try !isCopy($0) }, &plan, &findings)
    try end(&plan, settled)
    if isFull {
      for file in try files.gone()
      where try FileStatus(context.home.files(for: file.session).sidecar) == nil {
        plan.changes.append(.forget(file))
      }
    }
    plan.problems = findings.problems
    let touched = Set(plan.changes.compactMap(\.path).map(AttachedFile.folder))
    return (
      plan,
      touched.filter { path in
        findings.folders[path].map { $0.fingerprint != FolderFingerprint(of: path) } ?? false
      }
    )
  }

  // MARK: Looking

  private func scan(since: Int64) throws -> Findings {
    var findings = Findings()
    for source in sources {
      var found = findings
      try withoutActuallyEscaping({ (file: SourceScanner.File) in
        guard found.changed[file.path] == nil, try !isUnchanged(file) else { return }
        found.changed[file.path] = (file.status, source)
      }) { onFile in
        try SourceScanner(
          source: source, since: since, file: onFile,
          folder: { found.folders[$0] = $1 },
          problem: { found.problems[$0.path] = $0.reason }
        ).run()
      }
      findings = found
    }
    return findings
  }

  /// Whether all that the system says of a file is what it said when it was read last.
  private func isUnchanged(_ file: SourceScanner.File) throws -> Bool {
    try files.at(file.path).contains { known in
      known.source.device == file.status.device && known.source.inode == file.status.inode
        && known.changed == file.status.changed
        && (known.isCompressed || known.seen == file.status.length)
    }
  }

  /// What could not be read last time is tried each time.
  private func lookAgain(at paths: some Sequence<String>, _ findings: inout Findings) throws {
    for path in paths where findings.changed[path] == nil {
      guard let status = try? FileStatus(path), status.kind == .file,
        let source = sources.first(where: { $0.path.matches(path) })
      else { continue }
      findings.changed[path] = (status, source)
    }
  }

  /// Sorts a file that has changed: the one that is known here, or one to be matched.
  private func sort(
    _ path: String, _ status: FileStatus, _ source: LogSource, _ plan: inout AttachPlan,
    displaced: inout [AttachedFile], fresh: inout [Candidate], settled: inout Set<SessionID>
  ) throws {
    let known = try files.at(path).max {
      ($0.isOpen ? 1 : 0, $0.source.base) < ($1.isOpen ? 1 : 0, $1.source.base)
    }
    let candidate = Candidate(path: path, status: status, source: source)
    guard let known else {
      let sameNumber = try files.numbered(status)
      // Another name of a file that is read already.
      if try sameNumber.contains(where: { try isInPlace($0) }) { return }
      displaced += sameNumber
      fresh.append(candidate)
      return
    }
    guard known.source.device == status.device, known.source.inode == status.inode,
      status.length >= known.seen || known.isCompressed, try FileContent(path).continues(known)
    else {
      displaced.append(known)
      fresh.append(candidate)
      return
    }
    settled.insert(known.session)
    try goOn(known, with: candidate, &plan)
  }

  /// Whether a file is still where it was last found.
  private func isInPlace(_ file: AttachedFile) throws -> Bool {
    let status = try FileStatus(file.source.path)
    return status?.inode == file.source.inode && status?.device == file.source.device
  }

  /// A known file that is where, or has moved to where, it is found now.
  private func goOn(
    _ known: AttachedFile, with candidate: Candidate, _ plan: inout AttachPlan,
    isMoved: Bool = false
  ) throws {
    let isCompressed = CompressedFile.form(of: candidate.path) != nil
    let hasGrown = !isCompressed && candidate.status.length > known.seen
    var file = known
    file.source.path = candidate.path
    file.source.device = candidate.status.device
    file.source.inode = candidate.status.inode
    file.isCompressed = isCompressed
    file.changed = candidate.status.changed
    if hasGrown, !known.isOpen {
      // Bytes that come after the end are a session of their own.
      guard
        let source = candidate.source ?? sources.first(where: { $0.path.matches(known.source.path) }
        )
          ?? sources.first
      else { return }
      plan.changes.append(
        .begin(
          .init(
            source: source, path: candidate.path, status: candidate.status, base: known.seen,
            continues: known.session, replaces: known.session)))
      return
    }
    if hasGrown {
      file.seen = candidate.status.length
      file.link = try FileContent(candidate.path).link(before: file.seen)
      let silence =
        candidate.source.map { $0.idleEnd * 1000 } ?? known.idleAt - known.changed / 1_000_000
      file.idleAt = candidate.status.modifiedAt.milliseconds + max(1000, silence)
    }
    plan.changes.append(isMoved ? .move(file) : hasGrown ? .grow(file) : .note(file))
  }

  // MARK: What is no longer where it was

  /// Known files that are gone from folders that have changed, or with their folder.
  private func vanished(_ findings: inout Findings, since: Int64) throws -> [AttachedFile] {
    var gone: [AttachedFile] = []
    for folder in try files.folders() where !findings.isUnreadable(folder) {
      let status = try findings.folders[folder]?.status ?? existing(folder)
      if let status, findings.folders[folder] != nil, status.modified < since { continue }
      for file in try files.inFolder(folder) where findings.changed[file.source.path] == nil {
        if let now = try FileStatus(file.source.path), now.kind == .file,
          now.device == file.source.device, now.inode == file.source.inode
        {
          continue
        }
        // Another file system where the file's was: it is not removed but not there at present.
        let place = try status ?? nearest(folder)
        if place?.device == file.source.device {
          gone.append(file)
        } else {
          findings.problems[folder] = "its file system is not there; is it mounted?"
        }
      }
    }
    return gone
  }

  private func existing(_ folder: String) throws -> FileStatus? {
    try FileStatus(folder).flatMap { $0.kind == .directory ? $0 : nil }
  }

  private func nearest(_ folder: String) throws -> FileStatus? {
    var folder = folder
    while folder != "/" {
      folder = AttachedFile.folder(of: folder)
      if let status = try existing(folder) { return status }
    }
    return nil
  }

  /// Finds displaced files among those that nobody knows, and ends those that are not found.
  private func match(
    _ displaced: [AttachedFile], _ fresh: inout [Candidate], _ plan: inout AttachPlan,
    _ settled: inout Set<SessionID>, _ findings: inout Findings
  ) throws {
    guard !displaced.isEmpty else { return }
    let neighbours = try neighbours(of: displaced, besides: findings)
    var candidates = fresh + neighbours
    var taken: Set<String> = []
    var rewritten: [String: AttachedFile] = [:]
    let order = displaced.sorted {
      ($0.isOpen ? 0 : 1, $0.session) < ($1.isOpen ? 0 : 1, $1.session)
    }
    for file in order {
      settled.insert(file.session)
      guard let found = try place(of: file, among: candidates) else {
        rewritten[file.source.path] = file
        let isReplaced = fresh.contains { $0.path == file.source.path }
        if file.isOpen || !isReplaced { try lose(file, &plan) }
        continue
      }
      taken.insert(found.path)
      candidates.removeAll { $0.path == found.path }
      try follow(file, to: found, &plan)
    }
    // What was rotated away between two passes may never have been seen under a name that matches.
    let since = try files.pass().since
    fresh += candidates.filter { candidate in
      candidate.source == nil && candidate.status.modified >= since
        && displaced.contains { LogSource.isRotation(candidate.path, of: $0.source.path) }
    }
    fresh.removeAll { taken.contains($0.path) }
    for index in fresh.indices {
      guard var before = rewritten[fresh[index].path] else { continue }
      let status = fresh[index].status
      let base = try alreadySent(of: before, in: fresh[index])
      fresh[index].base = base
      fresh[index].before = before
      guard base > 0, base == status.length else { continue }
      // All of it was sent: what may come after that is told by where it begins.
      before.source.device = status.device
      before.source.inode = status.inode
      before.source.length = base
      before.seen = base
      before.link = try FileContent(before.source.path).link(before: base)
      before.changed = status.changed
      plan.changes.append(.note(before))
    }
  }

  /// How far a file that took another's place, a restored backup say, holds what was sent of that,
  /// by the hashes of whole segments.
  private func alreadySent(of file: AttachedFile, in candidate: Candidate) throws -> Int64 {
    guard CompressedFile.form(of: candidate.path) == nil, file.source.base == 0 else { return 0 }
    var names = try context.manifest.entry(file.session).map { Array($0.segments.keys) } ?? []
    if names.isEmpty, let sidecar = try? Sidecar.load(context.home.files(for: file.session).sidecar)
    {
      names = (sidecar.objects ?? []).compactMap(SegmentName.init)
    }
    var end: Int64 = 0
    for name in names.sorted(by: { $0.range.lowerBound < $1.range.lowerBound }) {
      guard name.range.lowerBound == end, name.range.upperBound <= candidate.status.length,
        try FileContent(candidate.path).matches(name)
      else { break }
      end = name.range.upperBound
    }
    return end
  }

  /// Files beside displaced ones that have the same stem: where rotation puts them, in or out of the
  /// source's pattern.
  private func neighbours(
    of displaced: [AttachedFile], besides findings: Findings
  ) throws -> [Candidate] {
    var found: [String: Candidate] = [:]
    for (folder, files) in Dictionary(grouping: displaced, by: \.folder) {
      let stems = Set(files.map { LogSource.stem(of: $0.source.path) })
      let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
      for name in names where stems.contains(where: { name.hasPrefix($0) }) {
        let path = (folder == "/" ? "/" : folder + "/") + name
        guard findings.changed[path] == nil, found[path] == nil,
          let status = try? FileStatus(path), status.kind == .file,
          try !isKnown(path, status)
        else { continue }
        found[path] = Candidate(
          path: path, status: status, source: nil)
      }
    }
    return Array(found.values)
  }

  private func isKnown(_ path: String, _ status: FileStatus) throws -> Bool {
    try files.at(path).contains {
      $0.source.device == status.device && $0.source.inode == status.inode
    }
  }

  /// Where a displaced file is now.
  private func place(of file: AttachedFile, among candidates: [Candidate]) throws -> Candidate? {
    let stem = LogSource.stem(of: file.source.path)
    func rank(_ candidate: Candidate) -> Int? {
      let isSame =
        candidate.status.inode == file.source.inode && candidate.status.device == file.source.device
      if isSame { return 0 }
      // A short file has too little content to be known by that alone.
      let isNeighbour =
        LogSource.stem(of: candidate.path).hasPrefix(stem)
        && AttachedFile.folder(of: candidate.path) == file.folder
      guard isNeighbour || file.source.headLength == FileContent.headLength else { return nil }
      return (CompressedFile.form(of: candidate.path) == nil ? 1 : 3) + (isNeighbour ? 0 : 1)
    }
    let ranked = candidates.compactMap { candidate in rank(candidate).map { (candidate, $0) } }
    return try ranked.sorted { ($0.1, $0.0.path) < ($1.1, $1.0.path) }.first { candidate, _ in
      let isPacked = CompressedFile.form(of: candidate.path) != nil
      guard isPacked || candidate.status.length >= file.seen else { return false }
      do {
        return try FileContent(candidate.path).continues(file)
      } catch is SystemError {
        return false
      }
    }?.0
  }

  private func follow(
    _ file: AttachedFile, to found: Candidate, _ plan: inout AttachPlan
  ) throws {
    var file = file
    guard file.isOpen else { return try goOn(file, with: found, &plan, isMoved: true) }
    if CompressedFile.form(of: found.path) != nil {
      file.source.path = found.path
      file.source.device = found.status.device
      file.source.inode = found.status.inode
      file.isCompressed = true
      plan.changes.append(.end(file, .rotated, .unpacked(path: found.path, status: found.status)))
      return
    }
    let isCopy =
      found.status.inode != file.source.inode || found.status.device != file.source.device
    file.isRotated = true
    try goOn(file, with: found, &plan, isMoved: true)
    // Nobody writes to a copy: what it has is all there will be.
    if isCopy, case .move(let moved)? = plan.changes.last {
      plan.changes.append(.end(moved, .rotated, nil))
    }
  }

  private func lose(_ file: AttachedFile, _ plan: inout AttachPlan) throws {
    guard file.isOpen else {
      plan.changes.append(.forget(file))
      return
    }
    let status = try FileStatus(file.source.path)
    let isTruncated = status?.inode == file.source.inode && status?.device == file.source.device
    let what = status == nil ? "removed" : isTruncated ? "truncated" : "replaced"
    let seen = file.seen - file.source.base
    let sent = min(try context.manifest.entry(file.session)?.sent ?? 0, seen)
    let count = seen > sent ? "\(seen - sent)" : "?"
    let line = "[GAP \(count) bytes: \(file.source.path) was \(what) after byte \(sent) was sent]"
    var ended = file
    ended.seen = file.source.base + sent
    ended.link = nil
    plan.changes.append(.end(ended, status == nil ? .removed : .rotated, .gap(line)))
  }

  // MARK: Beginnings and ends

  /// Whether a file is what a rotation that is under way makes of one that is still in its place.
  ///
  /// It is left alone: when the original has gone it is found to be its successor.
  private func isCopy(_ candidate: Candidate) throws -> Bool {
    let isPacked = CompressedFile.form(of: candidate.path) != nil
    for known in try files.inFolder(AttachedFile.folder(of: candidate.path))
    where (known.isOpen || isPacked) && !known.isCompressed
      && (LogSource.isRotation(candidate.path, of: known.source.path)
        || isPacked && candidate.path.hasPrefix(known.source.path))
    {
      guard let original = try FileStatus(known.source.path), try isInPlace(known),
        isPacked || original.length >= candidate.status.length
      else { continue }
      if (try? FileContent(candidate.path).continues(known)) == true { return true }
    }
    return false
  }

  private func begin(
    _ fresh: [Candidate], _ plan: inout AttachPlan, _ findings: inout Findings
  ) {
    var seen: Set<[UInt64]> = []
    for candidate in fresh where candidate.status.length > candidate.base {
      guard
        let source = candidate.source
          ?? sources.first(where: { source in
            AttachedFile.folder(of: candidate.path).hasPrefix(source.path.root)
          }), seen.insert([candidate.status.device, candidate.status.inode]).inserted
      else { continue }
      let form = CompressedFile.form(of: candidate.path)
      if form == .other {
        findings.problems[candidate.path] = "it is compressed in a way that is not read"
        continue
      }
      plan.changes.append(
        .begin(
          .init(
            source: source, path: candidate.path, status: candidate.status,
            base: candidate.base,
            continues: candidate.base > 0 ? candidate.before?.session : nil,
            replaces: candidate.before.flatMap { $0.isOpen ? nil : $0.session },
            end: form != nil ? .rotated : isIdle(candidate, source) ? .idle : nil)))
    }
  }

  private func isIdle(_ candidate: Candidate, _ source: LogSource) -> Bool {
    candidate.status.modifiedAt.milliseconds + source.idleEnd * 1000 <= context.now().milliseconds
  }

  private func end(_ plan: inout AttachPlan, _ settled: Set<SessionID>) throws {
    let grown = Set(
      plan.changes.compactMap { change in
        switch change {
        case .grow(let file), .move(let file), .end(let file, _, _): file.session
        default: nil
        }
      })
    for (due, end) in [
      (try files.idle(at: context.now()), ExitCause.FileEnd.idle), (try files.rotated(), .rotated),
    ] {
      for file in due where !grown.contains(file.session) {
        guard let status = try? FileStatus(file.source.path), status.length == file.seen else {
          continue
        }
        plan.changes.append(.end(file, end, nil))
      }
    }
  }
}

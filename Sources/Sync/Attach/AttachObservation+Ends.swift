import Platform
import SessionLog

/// Begins sessions for new files, and ends those whose files no longer grow.
extension AttachObservation {
  /// How long a missing file can be recognized after its session has left this machine.
  private static let memory = Duration.days(7)

  mutating func beginFresh() throws {
    var seen: Set<AttachedFile.Number> = []
    for candidate in fresh where candidate.status.length > candidate.base {
      if try candidate.isRotation && !isSuccessor(candidate) { continue }
      guard let source = source(of: candidate), seen.insert(.init(candidate.status)).inserted
      else { continue }
      if candidate.form == .other {
        report("it is compressed in a way that is not read", at: candidate.path)
        continue
      }
      let idleAt = candidate.status.idle(for: source.idleEnd, seenAt: context.now())
      let isIdle = idleAt <= context.now()
      add(
        .begin(
          .init(
            source: source, path: candidate.path, status: candidate.status, base: candidate.base,
            continues: candidate.base > 0 ? candidate.before?.session : nil,
            replaces: candidate.base > 0
              ? candidate.before.flatMap { $0.isOpen ? nil : $0.session } : nil,
            end: candidate.form != nil ? .rotated : isIdle ? .idle : nil,
            isLinked: isLinked(candidate.path))))
    }
  }

  /// Whether a file that matches only as a rotation is one of a log that was attached before: it was
  /// written to after its source was, or after that log began.
  ///
  /// Those of an earlier time are not sent.
  mutating func isSuccessor(_ candidate: AttachCandidate) throws -> Bool {
    let path = candidate.path
    // A log that no pass has seen has no session: it may have been empty until it was rotated. In a folder
    // that no pattern names, more than that has to show that a file is one of the source's.
    if !isOldFolder(AttachedFile.folder(of: path)), let source = candidate.source,
      let since = last.attached[source.path.description], since <= candidate.status.modifiedAt
    {
      return true
    }
    return try (LogSource.originals(of: path) + LogSource.originalsAbove(path)).contains {
      let begun = try known(in: AttachedFile.folder(of: $0)).begun[$0]
      return begun.map { $0 <= candidate.status.modifiedAt } ?? false
    }
  }

  /// Ends sessions that were idle too long, and those whose file was renamed and stopped growing.
  mutating func endDue() throws {
    let touched = Set(plan.changes.compactMap(\.session))
    let due =
      try files.idle(at: context.now()).map { ($0, ExitCause.FileEnd.idle) }
      + files.rotated().map { ($0, .rotated) }
    var ended = touched
    for (file, end) in due where ended.insert(file.session).inserted {
      guard let status = try? FileStatus(file.source.path), file.isAt(status) else { continue }
      if status.length == file.seen {
        add(.end(file, end, nil))
      } else {
        _ = try attempt(at: file.source.path, of: file.source.owner) {
          try $0.continueUnsearched(file)
        }
      }
    }
  }

  /// Lets files count as last changed now that were seen while the clock was ahead, so that their
  /// sessions end.
  mutating func countIdle() throws {
    let touched = Set(plan.changes.compactMap(\.session))
    let latest = context.now() + (sources.map(\.idleEnd).max() ?? LogSource.defaultIdleEnd)
    for var file in try files.idle(after: latest) where !touched.contains(file.session) {
      file.idleAt = latest
      add(.save(file))
    }
  }

  /// Forgets missing files whose session has left this machine as well.
  mutating func forgetGone() throws {
    let now = FileTime(context.now())
    for file in try files.gone() where now - file.changed >= Self.memory {
      guard try FileStatus(context.home.files(for: file.session).sidecar) == nil else { continue }
      add(.forget(file))
    }
  }

  // MARK: Files that no search reports any more

  /// Whether the search of its folder reports a file once it has changed.
  func isSearched(_ file: AttachedFile) -> Bool {
    let path = file.source.path
    guard let folder = folders[file.folder] else { return false }
    return isLinked(path) || folder.isSearched && sources.contains { $0.finds(path) }
  }

  /// Whether the search found a link to a file.
  private func isLinked(_ path: String) -> Bool {
    let name = String(AttachedFile.name(of: path))
    return folders[AttachedFile.folder(of: path)]?.targets.contains(name) ?? false
  }

  /// Lets the sessions of open files in place end that nothing leads to any more.
  ///
  /// If a link leads to another file now, that is once growth stops; if the configuration has changed, at
  /// once, with what was read.
  mutating func leaveUnsearched() throws {
    let unreadable = unreadablePaths
    var touched = Set(plan.changes.compactMap(\.session)).union(displaced.map(\.session))
    for file in try files.open() where !file.isRotated && !file.isCompressed {
      guard changed[file.source.path] == nil, !isSearched(file),
        !Self.isBelow(unreadable, file.folder), touched.insert(file.session).inserted
      else { continue }
      _ = try attempt(at: file.source.path, of: file.source.owner) { try $0.letEnd(file) }
    }
  }

  private mutating func letEnd(_ file: AttachedFile) throws {
    guard try file.isInPlace() else { return }
    // Of a row that was rebuilt, what had been read and not sent is not known.
    if isReconfigured, file.changed != .epoch { return add(.end(file, .idle, nil)) }
    var left = file
    left.isRotated = true
    if try !continueUnsearched(left) { add(.save(left)) }
  }

  /// Looks once more at files whose session has ended and that a link led to until the last pass: they may
  /// have grown before it was moved.
  ///
  /// Notes to which files links lead now. The last pass has recorded these files. Without its record
  /// nothing is read: the user may have removed a file from the configuration since.
  mutating func leaveUnlinked() throws {
    for (folder, found) in folders where !found.targets.isEmpty {
      for file in try files.inFolder(folder) where isLinked(file.source.path) {
        noteLinked(file.session)
      }
    }
    guard !isReconfigured else { return }
    let touched = Set(plan.changes.compactMap(\.session)).union(displaced.map(\.session))
    for session in try files.linked().subtracting(plan.linked).subtracting(touched) {
      guard let file = try files.of(session), !file.isOpen, !file.isGone, !isSearched(file),
        changed[file.source.path] == nil
      else { continue }
      let isContinued = try attempt(at: file.source.path, of: file.source.owner) {
        try $0.continueUnsearched(file)
      }
      // If it cannot be read, or the folder is disturbed, the next pass looks again.
      if isContinued != false { noteLinked(session) }
    }
  }

  /// Continues a file that has grown, and that no search reports.
  ///
  /// - Returns: false if it has not grown.
  /// - Throws: ``Platform/SystemError`` if it has, and cannot be read.
  mutating func continueUnsearched(_ file: AttachedFile) throws -> Bool {
    guard !file.isCompressed, let status = try FileStatus(file.source.path),
      file.isAt(status), status.length > file.seen,
      try FileContent(file.source.path).continues(file)
    else { return false }
    try continueFile(
      file, with: AttachCandidate(path: file.source.path, status: status, source: nil))
    return true
  }
}

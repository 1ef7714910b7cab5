import Foundation
import LogRecords
import Platform
import Replica
import SessionLog

/// Finds files that have moved.
extension AttachObservation {
  /// Finds known files that disappeared from changed folders, or with their folder.
  mutating func findVanished() throws {
    let unreadable = unreadablePaths
    for folder in try files.folders() where !Self.isBelow(unreadable, folder) {
      _ = try attempt(at: folder, in: folder, of: nil) { try $0.findVanished(in: folder) }
    }
    var seen = Set(plan.changes.compactMap(\.session))
    displaced = displaced.filter { seen.insert($0.session).inserted }
  }

  /// The paths that cannot be read; a missing one is none of them.
  var unreadablePaths: Set<String> {
    Set(plan.problems.keys.filter { !FileStatus.isAbsent($0) })
  }

  private mutating func findVanished(in folder: String) throws {
    let read = folders[folder]
    if let read, read.isSearched, read.status.modified < since { return }
    let status = try read?.status ?? Self.existing(folder)
    for file in try files.inFolder(folder) where changed[file.source.path] == nil {
      _ = try attempt(at: file.source.path, of: file.source.owner) {
        try $0.findVanished(file, in: folder, status, isRead: read != nil)
      }
    }
  }

  private mutating func findVanished(
    _ file: AttachedFile, in folder: String, _ status: FileStatus?, isRead: Bool
  ) throws {
    if !isSearched(file), try isCut(file) { return displaced.append(file) }
    // Nothing was renamed in a folder outside every source.
    if !isRead, let status, status.modified < since, status.device == file.source.device { return }
    if try file.isInPlace() { return }
    // A different file system is mounted there now: the file is absent, not removed.
    if try (status ?? Self.nearest(folder))?.device == file.source.device {
      displaced.append(file)
    } else {
      keepWaiting(file)
      report("its file system is not there; is it mounted?", at: folder)
    }
  }

  /// Whether a file in place has become shorter than it was read, or begins with other bytes before
  /// all was sent.
  private func isCut(_ file: AttachedFile) throws -> Bool {
    guard !file.isCompressed, let status = try FileStatus(file.source.path), file.isAt(status)
    else { return false }
    if status.length < file.seen { return true }
    guard file.source.length != .zero, try sent.isPending(file) else { return false }
    return (try? FileContent(file.source.path).hasHead(of: file)) == false
  }

  /// Whether a folder equals or lies below one of these paths.
  static func isBelow(_ paths: Set<String>, _ folder: String) -> Bool {
    var folder = folder
    while !paths.contains(folder) {
      if folder == "/" { return false }
      folder = AttachedFile.folder(of: folder)
    }
    return true
  }

  private static func existing(_ folder: String) throws -> FileStatus? {
    try FileStatus(folder).flatMap { $0.kind == .directory ? $0 : nil }
  }

  private static func nearest(_ folder: String) throws -> FileStatus? {
    var folder = folder
    while folder != "/" {
      folder = AttachedFile.folder(of: folder)
      if let status = try existing(folder) { return status }
    }
    return nil
  }

  /// Matches displaced files with unknown ones, and ends those without a match.
  mutating func matchDisplaced() throws {
    guard !displaced.isEmpty else { return }
    let targets = RotationTargets(fresh + (try neighbours()))
    let replacements = Dictionary(
      fresh.indices.map { (fresh[$0].path, $0) }, uniquingKeysWith: { first, _ in first })
    // What was written over another log in place has not been moved there.
    let overwriting = Dictionary(
      displaced.filter { edited.contains($0.session) }.map { ($0.source.path, $0.session) },
      uniquingKeysWith: { first, _ in first })
    // What is known of one may be all that another one begins with.
    let order = displaced.sorted {
      ($1.seen, $0.isOpen ? 0 : 1, $0.session) < ($0.seen, $1.isOpen ? 0 : 1, $1.session)
    }
    var matching = Matching(
      targets: targets, replacements: replacements, overwriting: overwriting)
    for file in order {
      let isFollowed = try attempt(at: file.source.path, of: file.source.owner) {
        try $0.followDisplaced(file, &matching, isRenamed: true)
      }
      if isFollowed == false { matching.others.append(file) }
    }
    for file in matching.others {
      _ = try attempt(at: file.source.path, of: file.source.owner) { try $0.match(file, &matching) }
    }
    let left = Set(matching.targets.left.map(\.path)).subtracting(matching.uncompared)
    fresh.removeAll { !left.contains($0.path) }
    for index in fresh.indices {
      _ = try attempt(at: fresh[index].path, of: fresh[index].status.owner) {
        try $0.skipSent(at: index)
      }
      // Another log took its place; the old content may reappear elsewhere.
      if fresh[index].base == 0, let before = fresh[index].before, try !sent.isPending(before) {
        try lose(before)
      }
    }
  }

  /// What displaced files may have become.
  private struct Matching {
    var targets: RotationTargets
    /// Displaced files that were not renamed, longest first.
    var others: [AttachedFile] = []
    /// Paths that could not be compared.
    var uncompared: Set<String> = []
    /// The targets that cannot be read; nil until asked for.
    var unreadable: [Unread]?
    /// By path, the indexes of unknown files that took the place of displaced ones.
    let replacements: [String: Int]
    /// By path, sessions whose logs were written over in place.
    let overwriting: [String: SessionID]
  }

  /// Follows a displaced file to what it has become.
  ///
  /// - Parameter isRenamed: whether it has to have the file's number: what begins like others is theirs only
  ///   if no other was renamed to it.
  /// - Returns: false if nothing is found.
  private mutating func followDisplaced(
    _ file: AttachedFile, _ matching: inout Matching, isRenamed: Bool
  ) throws -> Bool {
    let (overwriting, others) = (matching.overwriting, matching.others)
    do {
      let found =
        isRenamed
        ? try matching.targets.takeNumbered(for: file) { target in
          // What was written over it in place has its number, too, and what holds more of another log may
          // have got the number of a removed one.
          try target.path != file.source.path && isTarget(target, of: file, overwriting)
            && !others.lazy.filter { $0.folder == file.folder && $0.seen > file.seen }
              .prefix(RotationTargets.mostCompared)
              .contains { try isTarget(target, of: $0, overwriting) }
        }
        : try matching.targets.take(for: file) { try isTarget($0, of: file, overwriting) }
      guard let found else { return false }
      try followOrReport(file, to: found)
      // The next pass looks there for logs that no pass has seen.
      if folders[AttachedFile.folder(of: found.path)] == nil { lookFurther() }
    } catch let error as Uncompared {
      matching.uncompared.insert(error.path)
      keepWaiting(file)
      leave(error)
    }
    return true
  }

  private mutating func isTarget(
    _ target: AttachCandidate, of file: AttachedFile, _ overwriting: [String: SessionID]
  ) throws -> Bool {
    try [nil, file.session].contains(overwriting[target.path])
      && file.mayHaveMoved(to: target)
      && (target.form != nil || target.status.length >= file.seen)
      && isLog(of: file, at: target)
  }

  /// Matches a displaced file with an unknown one, or ends its session.
  private mutating func match(_ file: AttachedFile, _ matching: inout Matching) throws {
    if try followDisplaced(file, &matching, isRenamed: false) { return }
    if let index = matching.replacements[file.source.path],
      let rewritten = try rewritten(file, as: fresh[index])
    {
      add(.rewrite(rewritten))
      matching.targets.remove(rewritten.source.path)
    } else if try sent.isPending(file), let target = waitForUnreadable(file, &matching) {
      matching.uncompared.insert(target.path)
      leave(target)
    } else if try mayBeUnreadable(file) && !file.isInPlace() {
      // What the session waited for before counts again once the rest can be read.
      keepWaiting(file)
      lookFurther()
    } else if let index = matching.replacements[file.source.path] {
      fresh[index].before = file
      if try sent.isPending(file) { try lose(file) }
    } else {
      try lose(file)
    }
  }

  /// Whether a file may have moved out of sight: within its folder, if its session is not sealed, or into one
  /// to which rotation moves logs of that, if they cannot be read; or to a rotated name that cannot be looked
  /// at, and was no problem of the last pass.
  private func mayBeUnreadable(_ file: AttachedFile) throws -> Bool {
    try plan.problems[file.folder] != nil && sent.isPending(file)
      || unreadable.contains { AttachedFile.folder(of: $0) == file.folder }
      || plan.problems.keys.contains {
        sent.problems[$0] == nil && file.mayBeRotated(to: $0) && Self.isUnseen($0)
      }
  }

  /// Whether the status of what is at a path cannot be read.
  private static func isUnseen(_ path: String) -> Bool {
    do {
      _ = try FileStatus(path)
      return false
    } catch {
      return true
    }
  }

  /// Lets the session of a file wait on for what it waited for in the last pass.
  private mutating func keepWaiting(_ file: AttachedFile) { wait(for: awaited(by: file)) }

  private func awaited(by file: AttachedFile) -> Set<AwaitedFile> {
    sent.awaited.filter { $0.session == file.session }
  }

  /// Waits for the files that cannot be read, and that a displaced one whose session is not sealed may
  /// have become.
  ///
  /// Such a file has its number, and a name that a source or its rotation gives; or it has got one of the
  /// latter since the displaced one was read.
  ///
  /// The first pass decides which files a session waits for. Otherwise, where no archive is readable, each new
  /// one would prolong the wait, and the session would never end. A damaged or excluded file may stay as it
  /// is, so the session waits for it no longer than ``patience`` after its last change.
  private mutating func waitForUnreadable(
    _ file: AttachedFile, _ matching: inout Matching
  ) -> Uncompared? {
    let unreadable =
      matching.unreadable
      ?? matching.targets.left.compactMap { target in
        do {
          _ = try FileContent(target.path).head()
          return nil
        } catch {
          return Unread(target, error)
        }
      }
    matching.unreadable = unreadable
    let awaited = awaited(by: file)
    let found = (unread.values + unreadable).filter { one in
      let (path, status) = (one.target.path, one.target.status)
      guard file.mayBelong(to: status) else { return false }
      let isRotated = file.mayBeRotated(to: path)
      // The number of a removed log is soon another file's.
      let isSame = file.isAt(status) && (isRotated || one.target.source != nil)
      guard isSame || isRotated else { return false }
      if one.isDamaged || sources.contains(where: { $0.excludes(path) }) {
        return status.changed >= file.changed && hasChanged(status, within: Self.patience)
      }
      return isSame
        || (awaited.isEmpty
          ? status.changed >= file.changed : awaited.contains(.init(file.session, status)))
    }
    wait(for: found.map { AwaitedFile(file.session, $0.target.status) })
    return found.min { $0.target.path < $1.target.path }
      .map { Uncompared(path: $0.target.path, cause: $0.cause) }
  }

  /// Files that no search of the sources reported, and that displaced ones may have become.
  ///
  /// Only in folders that the search has reached, or that are what they were: a link may have replaced
  /// another since, or one above it, and lead to files that no source names.
  private mutating func neighbours() throws -> [AttachCandidate] {
    var found: [AttachCandidate] = []
    for (folder, displaced) in Dictionary(grouping: displaced, by: \.folder)
    where folders[folder] != nil || Platform.File.resolve(folder) == folder {
      var paths: [String] = []
      do {
        paths = try RotationTargets.paths(of: displaced, in: folder)
      } catch let error as SystemError where !error.isNotFound {
        report(error.reason, at: folder)
      } catch is SystemError {}
      for path in paths {
        guard changed[path] == nil, let status = try? FileStatus(path), status.kind == .file,
          try !isKnown(status, at: path)
        else { continue }
        found.append(AttachCandidate(path: path, status: status, source: nil))
      }
    }
    return found
  }

  /// Whether a file is the one that is known at its path, and no other log was written over that.
  private func isKnown(_ status: FileStatus, at path: String) throws -> Bool {
    try files.here(at: path).contains { known in
      if known.isUnchanged(status) { return true }
      return known.isAt(status) && (try? sent.continues(known, FileContent(path))) != false
    }
  }

  /// Whether a candidate is a known file, perhaps grown: it has the same first and last bytes, and those
  /// between that were sent.
  ///
  /// - Throws: ``Uncompared``; errors of the home and its cache. A file that cannot be read is not the
  ///   one, as far as can be told; it is noted in ``unread``.
  mutating func isLog(of known: AttachedFile, at candidate: AttachCandidate) throws -> Bool {
    do {
      guard try sent.continues(known, FileContent(candidate.path)) else { return false }
    } catch {
      unread[candidate.path] = Unread(candidate, error)
      return false
    }
    do {
      return try !sent.isEdited(known, at: candidate)
    } catch let error as SystemError where error.path == candidate.path {
      unread[candidate.path] = Unread(candidate, error)
      return false
    } catch let error as SystemError where error.isDiskFull {
      throw Uncompared(path: candidate.path, cause: error)
    }
  }

  /// Thrown when a file cannot be compared with what was sent, as it cannot be read or the disk is too full
  /// to unpack it: which log it is remains open, so that neither is a log lost nor another one new.
  struct Uncompared: Error {
    let path: String
    let cause: SystemError
  }

  /// A file that could not be read, with the cause; a later pass may be able to read it.
  struct Unread {
    let target: AttachCandidate
    let cause: SystemError

    /// - Returns: nil if the file is gone, or if no later pass can read it either: it is too large, or
    ///   compressed in an unsupported way.
    init?(_ target: AttachCandidate, _ error: any Error) {
      guard let cause = error as? SystemError, cause.path == target.path, !cause.isNotFound,
        ![SystemError.Number.overflow, SystemError.Number.unsupported].contains(cause.errno)
      else { return nil }
      (self.target, self.cause) = (target, cause)
    }

    /// Whether it is a compressed file that cannot be unpacked.
    var isDamaged: Bool { cause.errno == SystemError.Number.malformed }
  }

  /// Leaves a file that could not be compared to the next pass.
  mutating func leave(_ error: Uncompared) {
    postpone([error.path])
    let cause = error.cause
    report(
      cause.errno == SystemError.Number.malformed
        ? cause.reason : "cannot be compared with what was sent: \(cause.explanation)",
      at: error.path)
  }

  /// Follows a file to its new path; an unreadable one is retried by the next pass.
  mutating func followOrReport(_ file: AttachedFile, to found: AttachCandidate) throws {
    do {
      _ = try attempt(at: found.path, of: file.source.owner) { try $0.follow(file, to: found) }
    } catch let error as SystemError {
      report(error.reason, at: found.path)
    }
  }

  private mutating func follow(_ file: AttachedFile, to found: AttachCandidate) throws {
    var file = file
    // A stream that the home has whole ends there: what follows in the file may be another log's.
    let isWhole = found.form != nil && file.source.length == .zero
    // The loss of a file that is gone has been reported already.
    guard try !file.isGone && !isWhole && sent.isPending(file) else {
      return try continueFile(file, with: found, isMoved: true)
    }
    if found.form != nil {
      file.place(at: found.path, found.status)
      file.isCompressed = true
      add(.end(file, .rotated, .unpacked(path: found.path, status: found.status)))
      return
    }
    // A remounted file system may have another device number.
    let isRenamed = found.path != file.source.path
    let isCopy = isRenamed && !file.isAt(found.status)
    if isRenamed { file.isRotated = true }
    try continueFile(file, with: found, isMoved: true)
    // A copy does not grow: its present content is final.
    if isCopy, file.isOpen, case .move(let moved)? = plan.changes.last {
      add(.end(moved, .rotated, nil))
    }
  }

  private mutating func lose(_ file: AttachedFile) throws {
    // Of a session without bytes of the file, the home's log has everything: nothing is lost.
    guard file.source.length != .zero, try sent.isPending(file) else { return add(.gone(file)) }
    if let whole = try sent.unpacked(file) { return add(.end(whole, .rotated, .kept)) }
    let status = try FileStatus(file.source.path)
    let isEdited = edited.contains(file.session)
    let what =
      try status == nil
      ? "removed" : isEdited ? "rewritten" : file.isInPlace() ? "truncated" : "replaced"
    let seen = file.source.length ?? file.source.offset(of: file.seen)
    let entry = try context.manifest.entry(file.session)
    let end = entry?.sent ?? .zero
    let line = LossLine(
      missing: seen > end && !isEdited ? (seen - end).bytes : nil,
      what: "\(file.source.path) was \(what)", end: end)
    // An ended session has a known length, unless what was sent is of two files. Of a file that was
    // always empty nothing is known to be lost.
    let isKnown = !file.isOpen || file.source.headLength == 0
    let isWhole = isKnown && end >= seen && !isEdited
    var ended = file
    ended.seen = file.source.position(of: end)
    // Should the file come back, it is sent from there.
    ended.link = isEdited ? nil : entry?.link(in: file.source)
    add(.end(ended, status == nil ? .removed : .rotated, .gap(isWhole ? nil : line)))
  }

  /// Skips bytes already sent from a file that replaced another, such as a restored backup.
  private mutating func skipSent(at index: Int) throws {
    guard var before = fresh[index].before else { return }
    let candidate = fresh[index]
    let end = try sent.length(of: before, in: candidate)
    fresh[index].base = end
    guard end > 0, end == candidate.status.length else { return }
    // All of it was sent: record the end, so that bytes appended later are recognized.
    before.place(at: candidate.path, candidate.status)
    before.source.length = before.source.offset(of: end)
    before.seen = end
    before.link = try FileContent(candidate.path).link(before: end)
    before.changed = candidate.status.changed
    add(.save(before))
  }

  // MARK: Files believed gone

  /// Matches files believed gone with unknown ones.
  mutating func matchGone() throws {
    guard !fresh.isEmpty else { return }
    let gone = try files.gone()
    guard !gone.isEmpty else { return }
    var left: [AttachCandidate] = []
    for candidate in fresh {
      do {
        let returned = try attempt(at: candidate.path, of: candidate.status.owner) {
          candidate.base == 0 ? try $0.sent.returned(candidate, among: gone) : nil
        }
        guard let returned else { continue }
        if let file = returned {
          try followOrReport(file, to: candidate)
        } else {
          left.append(candidate)
        }
      } catch let error as SystemError where error.isDiskFull {
        leave(Uncompared(path: candidate.path, cause: error))
      }
    }
    fresh = left
  }
}

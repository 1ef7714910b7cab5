import Foundation
import LogRecords
import Platform
import Replica
import SessionLog

/// Finding files that are no longer where they were.
extension AttachObservation {
  /// Known files that are gone from folders that have changed, or with their folder.
  mutating func findVanished() throws {
    // What is not there at all is not unreadable.
    let unreadable = Set(plan.problems.keys.filter { (try? FileStatus($0)) != .some(nil) })
    for folder in try files.folders() where !Self.isBelow(unreadable, folder) {
      do {
        try findVanished(in: folder)
      } catch let error as SystemError {
        report(error.reason, at: folder)
      }
    }
    var seen = Set(plan.changes.compactMap(\.session))
    displaced = displaced.filter { seen.insert($0.session).inserted }
  }

  private mutating func findVanished(in folder: String) throws {
    let read = folders[folder]
    if let read, read.status.modified < since { return }
    let status = try read?.status ?? Self.existing(folder)
    for file in try files.inFolder(folder) where changed[file.source.path] == nil {
      // Nothing was renamed in a folder that no source covers.
      if read == nil, let status, status.modified < since, status.device == file.source.device {
        continue
      }
      if try file.isInPlace() { continue }
      // Another file system where the file's was: it is not removed but not there at present.
      if try (status ?? Self.nearest(folder))?.device == file.source.device {
        displaced.append(file)
      } else {
        report("its file system is not there; is it mounted?", at: folder)
      }
    }
  }

  /// Whether a folder is one of these or in one.
  private static func isBelow(_ paths: Set<String>, _ folder: String) -> Bool {
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

  /// Finds displaced files among those that nobody knows, and ends those that are not found.
  mutating func matchDisplaced() throws {
    guard !displaced.isEmpty else { return }
    var candidates = fresh + (try neighbours())
    let replacements = Dictionary(
      fresh.indices.map { (fresh[$0].path, $0) }, uniquingKeysWith: { first, _ in first })
    let order = displaced.sorted {
      ($0.isOpen ? 0 : 1, $0.session) < ($1.isOpen ? 0 : 1, $1.session)
    }
    for file in order {
      if let found = place(of: file, among: candidates) {
        try followOrReport(file, to: candidates.remove(at: found))
      } else if let index = replacements[file.source.path],
        let rewritten = try rewritten(file, as: fresh[index])
      {
        add(.rewrite(rewritten))
        candidates.removeAll { $0.path == rewritten.source.path }
      } else if let index = replacements[file.source.path] {
        fresh[index].before = file
        if try isPending(file) { try lose(file) }
      } else {
        try lose(file)
      }
    }
    let left = Set(candidates.map(\.path))
    fresh.removeAll { !left.contains($0.path) }
    for index in fresh.indices {
      try skipSent(at: index)
      // Another log has taken its place: what it was may come back elsewhere.
      if fresh[index].base == 0, let before = fresh[index].before, try !isPending(before) {
        try lose(before)
      }
    }
    // What was rotated away between two passes may never have been seen under a name that matches.
    let last = try files.pass().since
    fresh += candidates.filter { candidate in
      candidate.source == nil && candidate.status.modified >= last
        && displaced.contains { LogSource.isRotation(candidate.path, of: $0.source.path) }
    }
  }

  /// Files beside displaced ones that have the same stem: where rotation puts them, in or out of the
  /// source's pattern.
  private func neighbours() throws -> [AttachCandidate] {
    var found: [AttachCandidate] = []
    for (folder, displaced) in Dictionary(grouping: displaced, by: \.folder) {
      let stems = Set(displaced.map { LogSource.stem(of: $0.source.path) })
      let names = (try? Directory.names(in: folder)) ?? []
      for name in names where stems.contains(where: { name.hasPrefix($0) }) {
        let path = (folder == "/" ? "/" : folder + "/") + name
        guard changed[path] == nil, let status = try? FileStatus(path), status.kind == .file,
          try !files.here(at: path).contains(where: { $0.isAt(status) })
        else { continue }
        found.append(AttachCandidate(path: path, status: status, source: nil))
      }
    }
    return found
  }

  /// Where a displaced file is now: the index of the candidate.
  ///
  /// The one with its number first, then plain files before compressed ones and neighbours before
  /// others; what counts is the content.
  private func place(of file: AttachedFile, among candidates: [AttachCandidate]) -> Int? {
    func isFound(at index: Int) -> Bool {
      let candidate = candidates[index]
      guard candidate.form != nil || candidate.status.length >= file.seen else { return false }
      return (try? FileContent(candidate.path).continues(file)) == true
    }
    let sameNumber = candidates.indices.filter { file.isAt(candidates[$0].status) }
    if let index = sameNumber.first(where: isFound) { return index }

    func rank(_ candidate: AttachCandidate) -> Int? {
      guard file.mayBe(at: candidate.path) else { return nil }
      return (candidate.form == nil ? 0 : 2) + (file.isNeighbour(candidate.path) ? 0 : 1)
    }
    let ranked = candidates.indices.compactMap { index in
      rank(candidates[index]).map { (rank: $0, path: candidates[index].path, index: index) }
    }
    return ranked.sorted { ($0.rank, $0.path) < ($1.rank, $1.path) }.map(\.index)
      .first(where: isFound)
  }

  /// Goes on with a file where it is now; one that cannot be read is tried again by the next pass.
  mutating func followOrReport(_ file: AttachedFile, to found: AttachCandidate) throws {
    do {
      try follow(file, to: found)
    } catch let error as SystemError {
      report(error.reason, at: found.path)
    }
  }

  private mutating func follow(_ file: AttachedFile, to found: AttachCandidate) throws {
    var file = file
    // What was lost of a file that is gone has been said.
    guard try !file.isGone && isPending(file) else {
      return try goOn(file, with: found, isMoved: true)
    }
    if found.form != nil {
      file.place(at: found.path, found.status)
      file.isCompressed = true
      add(.end(file, .rotated, .unpacked(path: found.path, status: found.status)))
      return
    }
    if try isEdited(file, at: found), let rewritten = try rewritten(file, as: found) {
      add(.rewrite(rewritten))
      return
    }
    // A file system that was mounted anew may have another number.
    let isRenamed = found.path != file.source.path
    let isCopy = isRenamed && !file.isAt(found.status)
    if isRenamed { file.isRotated = true }
    try goOn(file, with: found, isMoved: true)
    // Nobody writes to a copy: what it has is all there will be.
    if isCopy, file.isOpen, case .move(let moved)? = plan.changes.last {
      add(.end(moved, .rotated, nil))
    }
  }

  private mutating func lose(_ file: AttachedFile) throws {
    guard try isPending(file) else { return add(.lose(file)) }
    let status = try FileStatus(file.source.path)
    let what = try status == nil ? "removed" : file.isInPlace() ? "truncated" : "replaced"
    let seen = file.source.length ?? file.source.offset(of: file.seen)
    let sent = try context.manifest.entry(file.session)?.sent ?? .zero
    let line = GapLine.text(
      seen > sent ? (seen - sent).bytes : nil,
      "\(file.source.path) was \(what) after byte \(sent) was sent")
    // Of a session that had ended it is known how long it was.
    let isWhole = !file.isOpen && sent >= seen
    var ended = file
    ended.seen = file.source.position(of: sent)
    ended.link = nil
    add(.end(ended, status == nil ? .removed : .rotated, .gap(isWhole ? nil : line)))
  }

  /// Passes over what was sent already of a file that took another's place, a restored backup say.
  private mutating func skipSent(at index: Int) throws {
    guard var before = fresh[index].before else { return }
    let candidate = fresh[index]
    let sent = try sentLength(of: before, in: candidate)
    fresh[index].base = sent
    guard sent > 0, sent == candidate.status.length else { return }
    // All of it was sent: what may come after that is told by where it begins.
    before.place(at: candidate.path, candidate.status)
    before.source.length = before.source.offset(of: sent)
    before.seen = sent
    before.link = try FileContent(candidate.path).link(before: sent)
    before.changed = candidate.status.changed
    add(.note(before))
  }

  /// How far a candidate holds what was sent of a file, by the hashes of whole segments.
  private func sentLength(of file: AttachedFile, in candidate: AttachCandidate) throws -> Int64 {
    let content = try FileContent(candidate.path)
    guard try candidate.form == nil && content.hasHead(of: file) else { return 0 }
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
}

import Platform
import SessionLog

/// The known files of a folder.
struct KnownFolder {
  /// By path.
  let files: [String: [AttachedFile]]
  let paths: Prefixes
  /// By path, when the first session of each log began, those of files that are gone included.
  let begun: [String: Timestamp]

  /// - Parameter begun: when the first of the sessions began that read a file.
  init(
    _ files: [AttachedFile], gone: [AttachedFile], begun time: (AttachedFile) -> Timestamp
  ) {
    self.files = Dictionary(grouping: files, by: \.source.path)
    paths = Prefixes(self.files.keys)
    begun = (files + gone).reduce(into: [:]) { first, file in
      let time = time(file)
      for path in [file.source.path] + LogSource.originals(of: file.source.path) {
        first[path] = min(first[path] ?? time, time)
      }
    }
  }
}

/// Handles rotations that copy a file and leave the original in place.
extension AttachObservation {
  /// How long a copy waits for its original to be truncated.
  private static let copyPatience = Duration.seconds(60)

  /// Whether a file changed just now.
  private func isRecent(_ candidate: AttachCandidate) -> Bool {
    hasChanged(candidate.status, within: Self.copyPatience)
  }

  /// Excludes copies and, briefly, later growth of their originals, which a copy might lack.
  mutating func leaveCopies() throws {
    var originals: Set<String> = []
    // A compressed file is unpacked once, however many names its writer gives it.
    var (packed, rotations): (Set<AttachedFile.Number>, Set<AttachedFile.Number>) = ([], [])
    let read = Set(fresh.map(\.path)).union(plan.changes.compactMap(\.path))
    var left: [AttachCandidate] = []
    for candidate in fresh {
      let number = AttachedFile.Number(candidate.status)
      let isFirst =
        candidate.form == nil
        || (candidate.isRotation ? rotations.insert(number) : packed.insert(number)).inserted
      let isCopy =
        try !isFirst
        || attempt(at: candidate.path, of: candidate.status.owner) {
          if try $0.isBesideOriginal(candidate, among: read) { return true }
          guard let original = try $0.original(of: candidate) else { return false }
          if $0.isRecent(candidate) { originals.insert(original.source.path) }
          return true
        } ?? true
      if !isCopy { left.append(candidate) }
    }
    fresh = left
    let copied = copiedOriginals()
    fresh.removeAll { copied.contains($0.path) }
    originals.formUnion(copied)
    guard !originals.isEmpty else { return }
    postpone(originals)
  }

  /// Unknown files with a recent copy of their beginning beside them, which is read as a log of its own:
  /// once they are truncated, the copy alone has those bytes.
  private func copiedOriginals() -> Set<String> {
    let byPath = Dictionary(fresh.map { ($0.path, $0) }, uniquingKeysWith: { first, _ in first })
    guard !byPath.isEmpty else { return [] }
    var paths: Set<String> = []
    // A copy that takes long has been known since an earlier pass.
    for copy in changed.values where !copy.isRotation && copy.form == nil && isRecent(copy) {
      for path in LogSource.originals(of: copy.path) {
        guard let original = byPath[path], original.status.length >= copy.status.length,
          copy.status.mayHaveReplaced(ownedBy: original.status.owner),
          (try? FileContent(copy.path).isBeginning(of: FileContent(path))) == true
        else { continue }
        paths.insert(path)
      }
    }
    return paths
  }

  /// The original, still in place, if the candidate is its copy from a rotation in progress.
  ///
  /// The copy is skipped: once the original is gone, the copy is found as its successor. It may
  /// still be written, and its original may be truncated at any moment of the observation.
  private mutating func original(of candidate: AttachCandidate) throws -> AttachedFile? {
    let isPacked = candidate.form != nil
    let isRecent = isRecent(candidate)
    // Another log may begin with as few lines.
    let isLong = candidate.status.length >= FileContent.headLength
    for known in try knownOriginals(of: candidate.path, isPacked: isPacked)
    where (known.isOpen || isPacked || isRecent || isLong) && !known.isCompressed {
      // Others may not hold the log back by what they call a copy of it.
      guard known.mayBelong(to: candidate.status),
        let status = try? FileStatus(known.source.path), known.isAt(status),
        let original = try? FileContent(known.source.path),
        let copy = try? FileContent(candidate.path)
      else { continue }
      let isCopy: Bool
      do {
        // Without the last bytes, the next log passes for a copy, too, if both begin alike.
        isCopy =
          try known.link == nil
          ? isLog(of: known, at: candidate) : (try? copy.continues(known)) == true
      } catch let error as Uncompared {
        leave(error)
        return known
      }
      if isCopy {
        let hasMore = (try? copy.reaches(beyond: status.length)) == true
        if !hasMore, isRecent || (try? copy.isBeginning(of: original)) == true { return known }
        if displaced.contains(where: { $0.session == known.session }) { continue }
        let looked = changed[known.source.path]?.status.length ?? known.seen
        if status.length < looked || (try? original.continues(known)) != true {
          // Truncated since it was looked at.
          unsettle(AttachedFile.folder(of: candidate.path), of: known.source.owner)
          return known
        }
        // What both begin with, such as a heading, was all of the log when it was last read.
        continue
      }
      if !isPacked, isRecent || isLong, candidate.status.length < known.seen,
        (try? copy.isBeginning(of: original)) == true
      {
        return known
      }
    }
    return nil
  }

  /// The known files that a file may be a copy of, judged by its name: in its folder and the one above.
  private mutating func knownOriginals(of path: String, isPacked: Bool) throws -> [AttachedFile] {
    let beside = try known(in: AttachedFile.folder(of: path))
    let prefixes = beside.paths.beginning(path).filter {
      isPacked || LogSource.isRotation(path, of: $0)
    }
    let originals = Set(prefixes + LogSource.originals(of: path)).sorted()
    return try originals.flatMap { beside.files[$0] ?? [] }
      + LogSource.originalsAbove(path).flatMap { original in
        try known(in: AttachedFile.folder(of: original)).files[original] ?? []
      }
  }

  mutating func known(in folder: String) throws -> KnownFolder {
    if let known = knownFolders[folder] { return known }
    let gone = try self.gone ?? Dictionary(grouping: files.gone(), by: \.folder)
    self.gone = gone
    let found = try KnownFolder(
      files.inFolder(folder), gone: gone[folder] ?? [], begun: begun)
    knownFolders[folder] = found
    return found
  }

  /// When the first of the sessions began that read a file one after another, as far as they are known.
  private func begun(_ file: AttachedFile) -> Timestamp {
    var first = file.session
    while file.source.base > 0,
      let sidecar = try? Sidecar.load(context.home.files(for: first).sidecar),
      let former = sidecar.continues, former.startedAt < first.startedAt
    {
      first = former
    }
    return first.startedAt
  }

  /// Whether a compressed file's plain original is still in place and being read, with all that the
  /// compressed one has.
  ///
  /// The compressed file is skipped: once the original is gone, it is found as its successor.
  ///
  /// - Parameter read: the paths of files that are read, besides known ones.
  private func isBesideOriginal(
    _ candidate: AttachCandidate, among read: Set<String>
  ) throws -> Bool {
    guard candidate.form != nil, let dot = candidate.path.lastIndex(of: ".") else { return false }
    let plain = String(candidate.path[..<dot])
    let isRead = try read.contains(plain) || !files.here(at: plain).isEmpty
    guard isRead, let status = try FileStatus(plain), status.kind == .file,
      status.mayHaveReplaced(ownedBy: candidate.status.owner),
      let original = try? FileContent(plain)
    else { return false }
    // Of a compressed file still being written, perhaps nothing can be read.
    return (try? FileContent(candidate.path).isBeginning(of: original)) ?? isRecent(candidate)
  }
}

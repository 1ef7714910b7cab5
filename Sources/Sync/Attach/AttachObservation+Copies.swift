import Platform
import SessionLog

/// Copies of files that are still in their place, as rotations make them.
extension AttachObservation {
  /// For so long a copy may be waiting for its original to be emptied.
  private static let copyPatience = Duration.seconds(60)

  /// Leaves out what is a copy, and for a moment also what came to the original since: more of it
  /// might be sent than the copy has.
  mutating func leaveCopies() throws {
    let now = FileTime(context.now())
    var originals: Set<String> = []
    fresh = try fresh.filter { candidate in
      if try isBesideOriginal(candidate) { return false }
      guard let original = try original(of: candidate) else { return true }
      if now - candidate.status.changed < Self.copyPatience {
        originals.insert(original.source.path)
      }
      return false
    }
    guard !originals.isEmpty else { return }
    leave(originals)
  }

  /// The file, still in its place, of which a rotation that is under way makes this one.
  ///
  /// It is left alone: when the original has gone it is found to be its successor.
  private func original(of candidate: AttachCandidate) throws -> AttachedFile? {
    let isPacked = candidate.form != nil
    for known in try files.inFolder(AttachedFile.folder(of: candidate.path))
    where (known.isOpen || isPacked) && !known.isCompressed
      && (LogSource.isRotation(candidate.path, of: known.source.path)
        || isPacked && candidate.path.hasPrefix(known.source.path))
    {
      guard let original = try? FileStatus(known.source.path), known.isAt(original),
        isPacked || original.length >= candidate.status.length
      else { continue }
      if (try? FileContent(candidate.path).continues(known)) == true { return known }
    }
    return nil
  }

  /// Whether the plain file is still there, and is read, that a compressed one is being made of, or
  /// was.
  ///
  /// The compressed one is left alone: when the plain one has gone it is found to be its successor.
  private func isBesideOriginal(_ candidate: AttachCandidate) throws -> Bool {
    guard candidate.form != nil, let dot = candidate.path.lastIndex(of: ".") else { return false }
    let plain = String(candidate.path[..<dot])
    let isRead =
      try fresh.contains { $0.path == plain } || plan.changes.contains { $0.path == plain }
      || !files.here(at: plain).isEmpty
    guard isRead, try FileStatus(plain)?.kind == .file, let begins = try? FileContent(plain).head()
    else { return false }
    // Of one that is not whole yet not even the head may be there.
    guard let head = try? FileContent(candidate.path).head() else {
      return FileTime(context.now()) - candidate.status.changed < Self.copyPatience
    }
    return begins.starts(with: head) || head.starts(with: begins)
  }
}

import ObjectStore
import Platform
import Replica
import SessionLog

/// Small segments, which each tick leaves one of, give way to larger ones that cover them.
///
/// Each byte is sent at most twice more than by its tick: when 64 ticks have come together, and in
/// the objects of the seal. What is covered is deleted by a later pass, once a listing shows what
/// covers it; so at every instant the remote holds each byte.
extension SessionUpload {
  /// How many small segments come together before a tick covers them.
  private static let coveredTicks = 64

  /// Before a tick: where enough small segments have come together, puts larger ones that cover
  /// them, and the tick's bytes in the last where they fit.
  func coverTicks(_ log: LocalStream, upTo end: StreamOffset, _ entry: inout ManifestEntry)
    async throws
  {
    guard entry.segments.count >= Self.coveredTicks - 1 else { return }
    let recent = remote(entry).cover(upTo: entry.sent, of: entry.generation).filter {
      $0.range.lowerBound >= entry.merged
    }
    guard recent.count >= Self.coveredTicks - 1 else { return }
    try await cover(recent, of: log, withNext: end, &entry)
    entry.merged = entry.sent
    try context.manifest.save(&entry, of: session)
  }

  /// Before the seal: puts the final objects that take the place of small segments.
  func coverAll(_ log: LocalStream, upTo length: StreamOffset, _ entry: inout ManifestEntry)
    async throws
  {
    let all = remote(entry).cover(upTo: length, of: entry.generation)
    try await cover(all, of: log, withNext: length, &entry)
  }

  private func cover(
    _ segments: [SegmentName], of log: LocalStream, withNext end: StreamOffset,
    _ entry: inout ManifestEntry
  ) async throws {
    let limit = ByteCount(context.segmentLimit)
    let here = try log.available().lowerBound
    for group in SegmentGroup.groups(of: segments, limit: limit)
    where here <= group.range.lowerBound {
      for segment in segments where group.range.contains(segment.range.lowerBound) {
        guard try segment.matches(log) else {
          throw ReplicaError(
            .localLogChanged,
            "\(log.path) differs from what was sent as \(folder.key)\(segment.fileName)")
        }
      }
      let takesNext =
        group.range.upperBound == entry.sent && group.stored + (end - entry.sent) <= limit
      let range = group.range.lowerBound..<(takesNext ? end : group.range.upperBound)
      try await put(of: log, range, &entry) { entry in
        try await lane.encode(
          log, session: session, generation: entry.generation, range: range, storedLimit: .max,
          frameLength: context.objectLimit.frameLength, format: sidecar.format)
      }
    }
  }

  /// The segments known to be there.
  func remote(_ entry: ManifestEntry) -> RemoteSession {
    RemoteSession(folder: folder, session: session, segments: Array(entry.segments.keys))
  }

  /// Deletes what the covering segments of an earlier pass have taken the place of, once the content
  /// of these is proven.
  ///
  /// What cannot be deleted is told and stays until more is covered.
  ///
  /// - Throws: errors of the manifest; ``ReplicaError`` when a covering segment cannot be proven;
  ///   `CancellationError`.
  func removeCovered(_ entry: inout ManifestEntry, _ log: LocalStream) async throws {
    let known = remote(entry)
    let needed = known.cover(upTo: entry.sent, of: entry.generation)
    func cover(of name: SegmentName) -> SegmentName? { needed.first { $0.holds(name) } }
    let covered = known.segments(of: entry.generation).filter {
      !needed.contains($0) && cover(of: $0) != nil
    }
    guard !covered.isEmpty else { return }
    do {
      let listed = try await FolderListing(folder, session: session, in: context.store)[
        session, in: folder]
      guard Set(needed).isSubset(of: listed.segments) else { return }
      for name in Set(covered.compactMap(cover)) where entry.segments[name] != true {
        try await readBack(name, log)
        entry.segments[name] = true
      }
      let removals = try covered.map { name in
        let larger = cover(of: name) ?? name
        let evidence = try Evidence.replaced(
          name, by: larger, isProven: entry.segments[larger] == true)
        return (name, evidence)
      }
      let outcomes = try await Deleter(context).deleteCovered(removals, in: folder)
      for (name, outcome) in zip(covered, outcomes) {
        if let error = outcome.error { throw error }
        entry.segments[name] = nil
      }
    } catch let error as StoreError where !error.endsPass {
      report(.leftBehind(session: session, reason: "\(error)"))
    }
    try context.manifest.save(&entry, of: session)
  }
}

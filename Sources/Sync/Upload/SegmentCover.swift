import ObjectStore
import Platform
import Replica
import SessionLog

/// Merges the small segments of ticks into larger ones that cover them.
///
/// Each byte is sent at most two more times after its tick: when 64 ticks have accumulated, and in
/// the objects of the seal. Covered segments are deleted by a later pass, once a listing shows the
/// covering ones, so the remote copy has each byte at every instant.
struct SegmentCover {
  let writer: RemoteWriter

  init(_ writer: RemoteWriter) { self.writer = writer }

  private var context: SyncContext { writer.context }

  /// Before a tick: if enough small segments have accumulated, puts larger ones that cover them,
  /// with the tick's bytes in the last one if they fit.
  func coverTicks(_ state: inout SessionState) async throws {
    let enough = context.limits.mergedSegments - 1
    guard let end = state.end, state.entry.segments.count >= enough else { return }
    let recent = writer.remote(state).cover(upTo: state.entry.sent, of: state.entry.generation)
      .filter { $0.range.lowerBound >= state.entry.merged }
    guard recent.count >= enough else { return }
    try await cover(recent, withNext: end, &state)
    state.entry.merged = state.entry.sent
    try writer.save(&state)
  }

  /// Before the seal: puts the final objects that replace small segments.
  func coverAll(_ state: inout SessionState) async throws {
    guard let end = state.end else { return }
    let all = writer.remote(state).cover(upTo: end, of: state.entry.generation)
    try await cover(all, withNext: end, &state)
  }

  /// Puts larger segments, of up to as many log bytes as one may have.
  private func cover(
    _ segments: [SegmentName], withNext end: StreamOffset, _ state: inout SessionState
  ) async throws {
    let limit = ByteCount(context.segmentLimit)
    let log = try state.requireView()
    let local = try log.available().lowerBound
    // The next bytes are added to the last group.
    let longest = max(limit, context.limits.longestSegment - limit)
    for group in SegmentGroup.groups(of: segments, limit: limit, longest: longest)
    where local <= group.range.lowerBound {
      for segment in segments where group.range.contains(segment.range.lowerBound) {
        guard try segment.matches(log) else {
          throw ReplicaError(
            .localLogChanged,
            "\(log.path) differs from what was sent as \(writer.folder.key)\(segment.fileName)")
        }
      }
      let takesNext =
        group.range.upperBound == state.entry.sent
        && group.stored + (end - state.entry.sent) <= limit
      let range = group.range.lowerBound..<(takesNext ? end : group.range.upperBound)
      try await writer.put(range, &state) { state in
        try await writer.lane.encode(
          log, session: state.session, generation: state.entry.generation, range: range,
          storedLimit: .max, frameLength: context.objectLimit.frameLength,
          format: state.sidecar.format)
      }
    }
  }

  /// Deletes the segments covered by an earlier pass, once the covering segments' content is
  /// proven.
  ///
  /// Segments that cannot be deleted are reported, and stay until more is covered.
  ///
  /// - Throws: errors of the manifest; ``ReplicaError`` when a covering segment cannot be proven;
  ///   `CancellationError`.
  func removeCovered(_ state: inout SessionState) async throws {
    let log = try state.requireView()
    let known = writer.remote(state)
    let needed = known.cover(upTo: state.entry.sent, of: state.entry.generation)
    func cover(of name: SegmentName) -> SegmentName? { needed.first { $0.holds(name) } }
    let covered = known.segments(of: state.entry.generation).filter {
      state.entry.own.contains($0) && !needed.contains($0) && cover(of: $0) != nil
    }
    guard !covered.isEmpty else { return }
    do {
      let listing = try await FolderListing(
        writer.folder, session: state.session, in: context.store)
      let listed = listing[state.session, in: writer.folder]
      guard Set(needed).isSubset(of: listed.segments) else { return }
      for name in Set(covered.compactMap(cover)) where state.entry.segments[name] != true {
        try await ObjectProof(writer).readBack(name, log, state.sidecar)
        state.entry.segments[name] = true
      }
      let removals = try covered.map { name in
        let larger = cover(of: name) ?? name
        let evidence = try Evidence.replaced(
          name, by: larger, isProven: state.entry.segments[larger] == true)
        return (name, evidence)
      }
      let outcomes = try await Deleter(context).deleteCovered(
        removals, in: writer.folder, holding: writer.homeLock)
      for (name, outcome) in zip(covered, outcomes) {
        if let error = outcome.error { throw error }
        state.entry.segments[name] = nil
      }
    } catch let error as StoreError where !error.endsPass {
      writer.report(.supersededLeft(session: state.session, reason: "\(error)"))
    }
    try writer.save(&state)
  }
}

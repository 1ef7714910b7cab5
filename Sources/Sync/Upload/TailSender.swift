import Platform
import Replica
import SessionLog

/// Sends the part of the stream that the store lacks.
struct TailSender {
  let writer: RemoteWriter

  init(_ writer: RemoteWriter) { self.writer = writer }

  var context: SyncContext { writer.context }

  /// Puts segments until the store has the log as far as this pass sends it; fills whole gaps
  /// between existing segments, so that none partly overlaps another.
  func send(_ state: inout SessionState) async throws {
    guard let end = state.end else { return }
    let log = try state.requireView()
    try log.synchronize()
    try await expectLocal(&state, upTo: end)
    guard !state.isCutShort else { return }
    try await SegmentCover(writer).coverTicks(&state)
    var signature = try openSignature(log, state, upTo: end)
    while state.entry.sent < end, state.sendsMore(within: writer.budget) {
      let range = state.entry.sent..<(nextSegment(after: state.entry.sent, state) ?? end)
      let segment = try await writer.put(range, &state) { state in
        let segment = try await writer.lane.encode(
          log, session: state.session, generation: state.entry.generation, range: range,
          storedLimit: context.segmentLimit, lengthLimit: context.limits.longestSegment,
          frameLength: context.objectLimit.frameLength,
          format: state.sidecar.format, link: state.entry.link, signature: signature?.builder)
        guard try RemoteComparison.isUnchanged(log, state.entry) else {
          throw ReplicaError(.localLogChanged, "\(log.path) was rewritten while it was read")
        }
        return segment
      }
      state.tally = segment.tally ?? state.tally
      if segment.name.range.upperBound == range.upperBound, range.upperBound < end {
        try passPresent(&state, log)
      }
      guard let builder = segment.signature else { continue }
      signature?.proceed(with: builder)
      state.entry.signed = signature?.end ?? 0
    }
  }

  /// Start of the first existing segment after a gap.
  func nextSegment(after offset: StreamOffset, _ state: SessionState) -> StreamOffset? {
    state.entry.segments.keys.lazy
      .filter { $0.generation == state.entry.generation && $0.range.lowerBound > offset }
      .map(\.range.lowerBound).min()
  }

  /// Skips segments that exist already.
  func passPresent(_ state: inout SessionState, _ log: LocalStream) throws {
    let mark = writer.remote(state).mark(of: state.entry.generation)
    guard mark > state.entry.sent else { return }
    state.entry.link = try log.link(before: mark)
    state.entry.sent = mark
    try writer.save(&state)
  }

  /// The signature, if one is kept and enough bytes have accumulated to be worthwhile.
  private func openSignature(
    _ log: LocalStream, _ state: SessionState, upTo end: StreamOffset
  ) throws -> SentSignature? {
    let entry = state.entry
    guard state.isAttached, state.verdict == nil, end - entry.signed >= context.limits.signatureStep
    else { return nil }
    var signature = SentSignature(
      context.home, state.session, generation: entry.generation, upTo: entry.sent)
    let sent = writer.remote(state).cover(upTo: entry.sent, of: entry.generation)
    return try signature.catchUp(with: sent, of: log) ? signature : nil
  }
}

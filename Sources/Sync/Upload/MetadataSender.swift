import ObjectStore
import Platform
import Replica
import SessionLog

/// A session of which no log may leave: revisions of its sidecar state that it began, that it goes
/// on, and how it ended.
///
/// The log is not read. Where bytes of it were sent before, the revisions say up to where.
struct MetadataSender {
  let writer: RemoteWriter

  init(_ writer: RemoteWriter) { self.writer = writer }

  /// Puts the revision of a session that goes on.
  func send(_ state: inout SessionState) async throws {
    var sidecar = state.sidecar
    sidecar.clockOffset =
      writer.context.serverClock.offset?.milliseconds ?? sidecar.clockOffset
    sidecar.fileSizeBytes = state.length.byteCount
    sidecar.redaction = redactionOfSent(state)
    try await writer.putRevision(sidecar, &state)
    try state.note(.metadata)
    state.isQuiet = false
  }

  /// Puts the last revision, and marks here that the session is over for the store.
  func seal(_ state: inout SessionState) async throws {
    // Should the configuration change before this is done, the session is not taken for another.
    try state.note(.metadata)
    var final = state.sidecar
    final.consent = .metadata
    final.digest = nil
    final.redaction = redactionOfSent(state)
    let sent = state.entry.sent
    let objects = writer.remote(state).cover(upTo: sent, of: state.entry.generation)
    try await Sealer(writer).seal(final, objects, length: sent, &state)
  }

  private func redactionOfSent(_ state: SessionState) -> [Sidecar.RedactionEpoch]? {
    state.entry.sent > 0 ? state.redaction?.filter { $0.from < state.entry.sent } : nil
  }
}

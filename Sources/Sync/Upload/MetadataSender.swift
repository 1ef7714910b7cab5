import ObjectStore
import Platform
import Replica
import SessionLog

/// Sends a session's sidecar without its log: revisions state that it began, that it continues, and
/// how it ended.
///
/// The log is not read. If bytes of it were sent before, the revisions say up to which offset.
struct MetadataSender {
  let writer: RemoteWriter

  init(_ writer: RemoteWriter) { self.writer = writer }

  /// Puts the revision of an open session.
  func send(_ state: inout SessionState) async throws {
    var sidecar = state.sidecar
    sidecar.clockOffset =
      writer.context.serverClock.offset?.milliseconds ?? sidecar.clockOffset
    sidecar.fileSizeBytes = state.length.byteCount
    sidecar.redaction = redactionOfSent(state)
    try await writer.putRevision(sidecar, &state)
    try state.record(.metadata)
    state.isQuiet = false
  }

  /// Puts the last revision, and records here that the session is sealed in the store.
  func seal(_ state: inout SessionState) async throws {
    // Record the consent first, in case the configuration changes before this is done.
    try state.record(.metadata)
    var final = state.sidecar
    final.consent = .metadata
    final.digest = nil
    final.redaction = redactionOfSent(state)
    let sent = state.entry.sent
    let objects = writer.remote(state).cover(upTo: sent, of: state.entry.generation)
    try await Sealer(writer).seal(final, objects, length: sent, &state)
    let lost = objects.filter(state.vanished.contains)
    guard !lost.isEmpty else { return }
    let names = lost.map { writer.folder.key + $0.fileName }.joined(separator: ", ")
    writer.report(
      .sealedAsSent(
        session: state.session,
        reason: "\(names), sent before the consent withheld the rest, "
          + "\(lost.count == 1 ? "is" : "are") not in the store any more: sealed all the same, and "
          + "its local log stays. Put the objects back from a backup or the bucket's versions"))
  }

  private func redactionOfSent(_ state: SessionState) -> [Sidecar.RedactionEpoch]? {
    state.entry.sent > 0 ? state.redaction?.filter { $0.from < state.entry.sent } : nil
  }
}

import Replica
import SessionLog

/// Notes which rules redact what is sent of a session, and reads the log as they leave it.
extension LocalSession {
  /// Notes epochs and, for a recorded stream, its generation.
  ///
  /// The first epoch of a first generation can be found again by trying; before anything is sent of
  /// another, it is certain to be remembered.
  func note(_ epochs: [Sidecar.RedactionEpoch], generation: Int?) throws {
    var note = SentNote()
    note.redaction = epochs
    note.generation = generation
    note.consent = try sentNote()?.consent
    try write(note, isDurable: epochs.count > 1 || generation != nil || note.consent != nil)
  }

  /// The stream as it leaves, or has left, this machine; nil when nothing of it is here.
  ///
  /// - Throws: ``Replica/ReplicaError`` where rules are missing that bind it.
  func openSentLog(_ sidecar: Sidecar, _ context: SyncContext) throws -> LocalStream? {
    let epochs = try redaction(sidecar) ?? []
    let stretches = try context.redaction.stretches(epochs)
    return try openLog(sidecar.source)?.redacted(by: stretches, sidecar.format)
  }
}

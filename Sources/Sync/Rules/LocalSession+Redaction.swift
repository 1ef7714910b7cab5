import Replica
import SessionLog

/// Notes which rules redact what is sent of a session, and reads the log as they leave it.
extension LocalSession {
  /// Notes epochs and, for a recorded stream, its generation.
  ///
  /// The first epoch of a first generation can be found again by trying; before anything is sent of
  /// another, it is certain to be remembered.
  ///
  /// - Parameter known: what has been noted; nil to read it.
  /// - Returns: what is noted from then on.
  @discardableResult
  func note(
    _ epochs: [Sidecar.RedactionEpoch], generation: Int?, in known: SentNote? = nil
  ) throws -> SentNote {
    var note = try known ?? sentNote() ?? SentNote()
    note.redaction = epochs
    note.generation = generation
    try write(note, isDurable: epochs.count > 1 || generation != nil || note.consent != nil)
    return note
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

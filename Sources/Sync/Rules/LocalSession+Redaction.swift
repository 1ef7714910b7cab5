import Replica
import SessionLog

/// Records which rules redact a session's sent log, and reads the log through them.
extension LocalSession {
  /// Records epochs and, for a recorded stream, its generation.
  ///
  /// The first epoch of a first generation can be recovered by trying; that of any other is
  /// recorded before anything is sent.
  ///
  /// - Parameter known: the present record; nil to read it.
  /// - Returns: the new record.
  @discardableResult
  func note(
    _ epochs: [Sidecar.RedactionEpoch], generation: Int?, in known: UploadState? = nil
  ) throws -> UploadState {
    var note = try known ?? sentNote() ?? UploadState()
    note.redaction = epochs
    note.generation = generation
    try write(note, isDurable: epochs.count > 1 || generation != nil || note.consent != nil)
    return note
  }

  /// The stream as it is or was sent; nil if no log is here.
  ///
  /// - Throws: ``Replica/ReplicaError`` if a rule set that binds it is missing.
  func openSentLog(_ sidecar: Sidecar, _ context: SyncContext) throws -> LocalStream? {
    let epochs = try redaction(sidecar) ?? []
    let stretches = try context.redaction.stretches(epochs)
    return try openLog(sidecar.source)?.redacted(by: stretches, sidecar.format)
  }
}

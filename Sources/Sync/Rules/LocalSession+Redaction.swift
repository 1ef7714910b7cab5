import Replica
import SessionLog

/// Records which rules redact a session's sent log, and reads the log through them.
extension LocalSession {
  /// Records epochs and, for a recorded stream, its generation.
  ///
  /// The first epoch of a first generation can be recovered by trying; that of any other is
  /// recorded before anything is sent.
  ///
  /// - Parameters:
  ///   - kept: the former streams before that generation that stay; nil to leave them as they are.
  ///   - known: the present record; nil to read it.
  /// - Returns: the new record.
  @discardableResult
  func record(
    _ epochs: [Sidecar.RedactionEpoch], generation: Int?, keeping kept: [Int]? = nil,
    in known: UploadState? = nil
  ) throws -> UploadState {
    var uploadState = try known ?? loadUploadState() ?? UploadState()
    uploadState.redaction = epochs
    uploadState.generation = generation
    if let kept { uploadState.kept = kept.isEmpty ? nil : kept }
    try write(
      uploadState, isDurable: epochs.count > 1 || generation != nil || uploadState.consent != nil)
    return uploadState
  }

  /// The stream as it is or was sent; nil without a local log.
  ///
  /// - Throws: ``Replica/ReplicaError`` if a rule set that binds it is missing.
  func openSentLog(_ sidecar: Sidecar, _ context: SyncContext) throws -> LocalStream? {
    let epochs = try redaction(sidecar) ?? []
    let spans = try context.redaction.spans(epochs)
    return try openLog(sidecar.source)?.redacted(by: spans, sidecar.format)
  }
}

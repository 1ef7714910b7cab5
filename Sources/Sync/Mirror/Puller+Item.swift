package import Platform
package import Replica
package import SessionLog

extension Puller {
  /// A session that the mirror lacks, wholly or in part.
  package struct Item: Sendable {
    /// The session as a listing showed it.
    package let remote: RemoteSession
    /// Length of the complete log in bytes.
    package let length: StreamOffset
    /// Length of the mirror's log in bytes, in any generation.
    let mirrored: StreamOffset
    /// The generation of the mirror's log.
    let mirroredGeneration: Int
    /// Whether the mirror's sidecar ends the session.
    let isMirrorSealed: Bool
    /// Whether the mirror has a different sidecar, or none.
    package let lacksSidecar: Bool
    /// Whether the mirror lacks what the file held before it was rewritten.
    let lacksFormer: Bool

    /// Length of the mirror's log in bytes; 0 if it is of another generation.
    package var present: StreamOffset { mirroredGeneration == remote.generation ? mirrored : .zero }

    /// Whether the store has what the mirror has, as what the file held before it was rewritten.
    var isRewritten: Bool {
      mirroredGeneration < remote.generation && remote.mark(of: mirroredGeneration) >= mirrored
    }

    /// Bytes of the log to fetch.
    package var missing: ByteCount { max(0, length - present) }

    /// Why the mirror's files stay as they are; nil if they are updated.
    ///
    /// A seal may state that the log is shorter; its digest proves that. A seal is replaced by a seal
    /// only: what is open proves nothing, even if it is redacted or repaired at this moment.
    package var refusal: String? {
      guard remote.revision != nil else { return sidecarMissing }
      guard remote.seal == nil else { return nil }
      if isMirrorSealed {
        return
          "kept: the mirror has all \(mirrored) bytes and the end, the store shows it as open. Pull "
          + "again later"
      }
      return length < mirrored && !isRewritten ? shortage : nil
    }

    /// A message that nothing says what the session's objects are.
    private var sidecarMissing: String {
      "not mirrored: its objects are in the store without a sidecar: it is being uploaded or "
        + "deleted, or somebody deleted the sidecar. Pull again later; if it stays so, run 'tidemark "
        + "verify --repair \(remote.session)' where it was recorded"
    }

    /// A message that the store has less than the mirror.
    var shortage: String {
      "kept: the mirror has \(mirrored) bytes, the store shows \(length). Pull again later; if it stays "
        + "so, run 'tidemark verify \(remote.session)'"
    }

    /// Size of the objects to read, in bytes.
    var stored: ByteCount {
      remote.segments.filter { $0.range.upperBound > present }.map(\.stored).total
    }

    /// Length of the largest object to read, in bytes.
    var largestObject: Int {
      Int(
        clamping: remote.segments.filter { $0.range.upperBound > present }.map(\.stored).max() ?? 0)
    }
  }
}

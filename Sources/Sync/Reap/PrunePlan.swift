package import Platform
package import SessionLog

/// What pruning means to delete of sessions that stay, and why; a value that can be printed and
/// tested.
package struct PrunePlan: Sendable, Equatable {
  /// What happens to one rotated part.
  package struct Decision: Sendable, Equatable {
    /// The session.
    package let session: SessionID
    /// Stream offset of the part's first byte.
    package let start: StreamOffset
    /// Bytes that it takes on the disk.
    package let bytes: ByteCount
    /// Why it goes or stays, for a person.
    package var reason: String
  }

  /// Parts to delete, each session's in stream order.
  package var pruned: [Decision] = []
  /// Old parts that stay.
  package var kept: [Decision] = []

  /// Nothing to do.
  package init() {}
}

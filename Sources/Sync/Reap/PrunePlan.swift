package import Platform
package import SessionLog

/// What pruning means to delete of sessions that stay, and why; a value that can be printed and
/// tested.
package struct PrunePlan: Sendable, Equatable {
  /// An old rotated part.
  package struct Part: Sendable, Equatable {
    /// The session.
    package let session: SessionID
    /// Stream offset of the part's first byte.
    package let start: StreamOffset
    /// Bytes that it takes on the disk.
    package let bytes: ByteCount
    /// How old it is, for a person.
    package let age: String
  }

  /// A part to be deleted.
  package struct Removal: Sendable, Equatable {
    /// The part.
    package let part: Part
    /// The proof that it may go.
    package let evidence: Evidence
  }

  /// A part that stays.
  package struct Kept: Sendable, Equatable {
    /// The part.
    package let part: Part
    /// Why, for a person.
    package let reason: String
  }

  /// Parts to delete, each session's in stream order.
  package var pruned: [Removal] = []
  /// Old parts that stay.
  package var kept: [Kept] = []

  /// Nothing to do.
  package init() {}
}

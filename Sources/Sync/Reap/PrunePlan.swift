package import Platform
package import SessionLog

/// The parts to prune from sessions that stay, with the reasons; a value that can be printed and
/// tested.
package struct PrunePlan: Sendable, Equatable {
  /// An old rotated part.
  package struct Part: Sendable, Equatable {
    /// The session.
    package let session: SessionID
    /// Stream offset of the part's first byte.
    package let start: StreamOffset
    /// Size on disk in bytes.
    package let bytes: ByteCount
    /// Its age, for a person.
    package let age: String
  }

  /// A part to be deleted.
  package struct Removal: Sendable, Equatable {
    /// The part.
    package let part: Part
    /// Stream offset after its last byte.
    package let end: StreamOffset
    /// The proof that it may be deleted.
    package let evidence: Evidence
  }

  /// A part that stays.
  package struct Kept: Sendable, Equatable {
    /// The part.
    package let part: Part
    /// The reason, for a person.
    package let reason: String
  }

  /// Parts to delete, in stream order for each session.
  package var pruned: [Removal] = []
  /// Old parts that stay.
  package var kept: [Kept] = []

  /// An empty plan.
  package init() {}
}

public import SessionLog

/// What pruning means to delete of sessions that stay, and why; a value that can be printed and
/// tested.
public struct PrunePlan: Sendable, Equatable {
  /// What happens to one rotated part.
  public struct Decision: Sendable, Equatable {
    /// The session.
    public let session: SessionID
    /// Stream offset of the part's first byte.
    public let start: Int64
    /// Bytes that it takes on the disk.
    public let bytes: Int64
    /// Why it goes or stays, for a person.
    public var reason: String
  }

  /// Parts to delete, each session's in stream order.
  public var pruned: [Decision] = []
  /// Old parts that stay.
  public var kept: [Decision] = []

  /// Nothing to do.
  public init() {}
}

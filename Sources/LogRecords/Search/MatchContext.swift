/// Chooses the lines around those that match, as grep does.
///
/// Used for one log: lines before a match are kept until it comes, at most as many as are asked for.
public struct MatchContext: Sendable {
  /// What comes of a line.
  public enum Piece {
    /// A line that matches.
    case match(RecordLine)
    /// A line near one.
    case context(RecordLine)
    /// Lines were left out between the one before and the next.
    case separator

    /// The line; nil for a separator.
    public var line: RecordLine? {
      switch self {
      case .match(let line), .context(let line): line
      case .separator: nil
      }
    }
  }

  private let before: Int
  private let after: Int
  private var kept: [KeptLine] = []
  /// Lines that are still to follow the last match.
  private var following = 0
  private var hasSkipped = false
  private var hasPrinted = false

  /// Context of so many lines.
  public init(before: Int, after: Int) {
    self.before = before
    self.after = after
  }

  /// Whether the last match has all that is to follow it.
  public var isComplete: Bool { following == 0 }

  /// Takes the next line.
  ///
  /// - Parameter body: gets what is to be printed, in order.
  public mutating func add(
    _ line: RecordLine, isMatch: Bool, _ body: (Piece) throws -> Void
  ) rethrows {
    if isMatch {
      if hasPrinted, hasSkipped, before + after > 0 { try body(.separator) }
      for line in kept { try line.with { try body(.context($0)) } }
      kept.removeAll(keepingCapacity: true)
      try body(.match(line))
      (following, hasSkipped, hasPrinted) = (after, false, true)
    } else if following > 0 {
      following -= 1
      try body(.context(line))
    } else if before > 0 {
      if kept.count == before {
        kept.removeFirst()
        hasSkipped = true
      }
      kept.append(KeptLine(line))
    } else {
      hasSkipped = true
    }
  }
}

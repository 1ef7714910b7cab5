/// Selects the lines around matches, as grep does.
///
/// For one log: lines before a match are kept until it comes, up to the requested number.
public struct MatchContext: Sendable {
  /// A line to print, or a separator.
  public enum Piece {
    /// A line that matches.
    case match(RecordLine)
    /// A line near a match.
    case context(RecordLine)
    /// Lines were omitted here.
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
  /// Number of lines still to follow the last match.
  private var following = 0
  private var hasSkipped = false
  private var hasPrinted = false

  /// Makes a context of this many lines.
  public init(before: Int, after: Int) {
    self.before = before
    self.after = after
  }

  /// Whether all context after the last match has been delivered.
  public var isComplete: Bool { following == 0 }

  /// Stream offset of the first line that is kept for a later match; nil if none is.
  package var firstKept: Int64? { kept.first?.with { $0.offset } }

  /// Adds the next line.
  ///
  /// - Parameter body: called with the pieces to print, in order.
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

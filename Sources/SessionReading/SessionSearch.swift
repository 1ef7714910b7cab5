package import LogRecords

/// Looks for lines in sessions.
package struct SessionSearch {
  /// How much of what matches is wanted.
  package enum Extent: Sendable {
    /// Lines, with those around them.
    case lines
    /// Every line, and whether it matches.
    case records
    /// Only whether a line matches.
    case sessions
  }

  /// What is looked for.
  package let pattern: LinePattern
  /// Whether lines are wanted that do not match.
  package var isInverted = false
  /// How many matches of a session are wanted.
  package var limit = Int.max
  /// How many lines before each match are wanted too.
  package var before = 0
  /// How many lines after each match are wanted too.
  package var after = 0
  package var extent = Extent.lines
  /// Whether lines have their numbers, for which the whole log is read.
  package var numbersLines = false

  /// Looks for a pattern.
  package init(_ pattern: LinePattern) { self.pattern = pattern }

  /// What was found.
  package enum Finding {
    /// A line, or one around it, and its number where ``numbersLines`` asks for it.
    case piece(MatchContext.Piece, number: Int?)
    /// A line, and whether it matches; with ``Extent/records``.
    case record(RecordLine, isMatch: Bool)
  }

  /// Nothing more is wanted of a session.
  private struct Enough: Error {}

  /// Searches one session.
  ///
  /// - Returns: how many lines matched, up to ``limit``.
  /// - Throws: as ``SessionReader/readLines(_:_:_:)`` does.
  package func run(
    in reader: SessionReader, _ choice: RecordChoice, _ body: (Finding) -> Void
  ) async throws -> Int {
    guard limit > 0 else { return 0 }
    var around = MatchContext(before: before, after: after)
    var numbers = LineNumbers(keeping: before)
    var found = 0
    func take(_ line: RecordLine) throws {
      let isMatch = found < limit && (pattern.match(in: line.text) != nil) != isInverted
      if isMatch { found += 1 }
      switch extent {
      case .sessions: if found > 0 { throw Enough() }
      case .lines:
        around.add(line, isMatch: isMatch) { piece in
          body(
            .piece(
              piece, number: numbersLines ? piece.line.flatMap { numbers.number(of: $0) } : nil))
        }
      case .records: body(.record(line, isMatch: isMatch))
      }
      if found == limit, extent != .lines || around.isComplete { throw Enough() }
    }
    do {
      if numbersLines {
        var filter = reader.filter(choice)
        _ = try await reader.read(RecordChoice(RecordFilter()), .verified) { bytes in
          numbers.add(bytes)
          try filter.add(bytes, take)
        }
        try filter.finish(take)
      } else {
        _ = try await reader.readLines(choice, choice.mode, take)
      }
    } catch is Enough {
      // What is left of the session is not wanted.
    }
    return found
  }
}

package import LogRecords

/// Searches sessions for lines.
package struct SessionSearch {
  /// The text delivered for a match.
  package enum Extent: Sendable {
    /// Lines, with their context.
    case lines
    /// Every line, and whether it matches.
    case records
    /// Only whether any line matches.
    case sessions
  }

  /// The pattern.
  package let pattern: LinePattern
  /// Whether to select lines that do not match.
  package var isInverted = false
  /// Maximum number of matches in a session.
  package var limit = Int.max
  /// Number of lines before each match to include.
  package var before = 0
  /// Number of lines after each match to include.
  package var after = 0
  package var extent = Extent.lines
  /// Whether to number lines, which requires reading the whole log.
  package var numbersLines = false

  /// Searches for a pattern.
  package init(_ pattern: LinePattern) { self.pattern = pattern }

  /// A result of the search.
  package enum Finding {
    /// A line or its context, with its number if ``numbersLines``.
    case piece(MatchContext.Piece, number: Int?)
    /// A line, and whether it matches; with ``Extent/records``.
    case record(RecordLine, isMatch: Bool)
  }

  /// Thrown when no more results are wanted.
  private struct Enough: Error {}

  /// Matching lines of a session's newer streams, which a search of its former ones leaves out.
  package struct KnownLines {
    private var hashes: Set<Int> = []

    /// Knows no line.
    package init() {}

    fileprivate static func hash(_ line: RecordLine) -> Int {
      var hasher = Hasher()
      hasher.combine(bytes: line.text)
      return hasher.finalize()
    }

    fileprivate func holds(_ hash: Int) -> Bool { hashes.contains(hash) }

    fileprivate mutating func add(_ others: Set<Int>) { hashes.formUnion(others) }
  }

  /// Searches one session.
  ///
  /// - Parameter known: matching lines that do not count; those found are added. Nil if the session
  ///   has one stream only.
  /// - Returns: the number of matching lines, up to ``limit``, and whether nothing that was searched
  ///   is lost or in doubt.
  /// - Throws: like ``SessionReader/readLines(_:_:_:)``.
  package func run(
    in reader: SessionReader, _ choice: RecordChoice, besides known: inout KnownLines?,
    _ body: (Finding) -> Void
  ) async throws -> (matches: Int, isWhole: Bool) {
    guard limit > 0 else { return (0, true) }
    var isWhole = true
    var around = MatchContext(before: before, after: after)
    var numbers = LineNumbers()
    var found = 0
    var new: Set<Int> = []
    defer { known?.add(new) }
    func search(_ line: RecordLine) throws {
      var isMatch = found < limit && pattern.isFound(in: line.text) != isInverted
      if isMatch, let known {
        let hash = KnownLines.hash(line)
        isMatch = !known.holds(hash)
        new.insert(hash)
      }
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
        isWhole = try await reader.read(RecordChoice(RecordFilter()), .verified) { bytes in
          numbers.add(bytes)
          try filter.add(bytes, search)
          // Of what was searched, only context is still to be shown.
          numbers.forget(before: around.firstKept ?? filter.position)
        }
        try filter.finish(search)
      } else {
        isWhole = try await reader.readLines(choice, choice.mode, search)
      }
    } catch is Enough {
      // No more results are wanted: skip the rest of the session.
    }
    return (found, isWhole)
  }
}

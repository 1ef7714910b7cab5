import Platform

/// The tables and indexes of a database below `cache/`.
struct CacheSchema: Sendable {
  /// Queries that succeed on every database with these columns, whichever version created it.
  let probes: [String]
  /// The statements as SQLite stores them.
  let stored: Set<String>
  private let statements: [String]

  /// - Parameters:
  ///   - text: one `CREATE` statement per table or index, each ending in `;`.
  ///   - probes: see ``probes``.
  init(_ text: String, probes: [String]) {
    statements = text.fields(between: ";").map { statement in
      String(statement.drop(while: \.isWhitespace))
    }
    stored = Set(statements)
    self.probes = probes
  }

  /// The names of the tables.
  var tables: [String] {
    let mark = "CREATE TABLE "
    return statements.filter { $0.hasPrefix(mark) }.map { statement in
      String(statement.dropFirst(mark.count).prefix { $0 != "(" })
    }
  }

  /// Statements that create missing tables and indexes.
  var text: String {
    statements.map { statement in
      let words = statement.split(separator: " ", maxSplits: 2)
      return "\(words[0]) \(words[1]) IF NOT EXISTS \(words[2]);"
    }.joined(separator: "\n")
  }
}

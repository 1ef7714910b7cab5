/// The tables and indexes of a database below `cache/`.
struct CacheSchema: Sendable {
  /// Statements that create missing tables and indexes.
  let text: String
  /// Queries that succeed on every database with these columns, whichever version created it.
  let probes: [String]
  /// The statements as SQLite stores them.
  let stored: Set<String>

  /// - Parameters:
  ///   - text: one `CREATE … IF NOT EXISTS` per table or index, each ending in `;`.
  ///   - probes: see ``probes``.
  init(_ text: String, probes: [String]) {
    self.text = text
    self.probes = probes
    stored = Set(
      text.split(separator: ";").map { statement in
        String(statement.drop(while: \.isWhitespace))
          .replacing(" IF NOT EXISTS", with: "", maxReplacements: 1)
      })
  }
}

/// The tables and indexes of a database below `cache/`.
struct CacheSchema: Sendable {
  /// Statements that make what is missing.
  let text: String
  /// Queries that every database with these columns answers, also one that another version made.
  let probes: [String]
  /// The statements as SQLite keeps them.
  let stored: Set<String>

  /// - Parameters:
  ///   - text: one `CREATE … IF NOT EXISTS` a table or index, each ending in `;`.
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

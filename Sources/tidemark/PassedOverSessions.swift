import SessionLog

/// The sessions that a command passed over, because the store has log bytes of them and no sidecar.
struct PassedOverSessions {
  let sessions: Set<SessionID>

  /// Maximum number of sessions to name.
  private static let mostNamed = 5

  /// A line that names them; nil if there are none.
  private var line: String? {
    let all = sessions.sorted()
    guard let first = all.first else { return nil }
    let named = all.prefix(Self.mostNamed).map(\.description).joined(separator: ", ")
    let more = all.count > Self.mostNamed ? " and \(all.count - Self.mostNamed) more" : ""
    return
      "passed over: the store has log bytes, but no sidecar, of \(named)\(more): being uploaded or "
      + "deleted at this moment, or the sidecar was deleted; then run 'tidemark verify --repair \(first)' "
      + "where it was recorded"
  }

  /// Says which they are.
  func report() {
    if let line { Console.complain(line) }
  }
}

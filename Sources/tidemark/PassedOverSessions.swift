import Platform
import SessionLog
import SessionReading

extension SessionCatalog {
  /// Maximum number of sessions to name.
  private static let mostNamed = 5

  /// A line on the sessions that a command passed over, because the store has log bytes of them and
  /// no sidecar; nil if there are none.
  var passedOverLine: String? {
    let all = passedOver.withLock { $0 }.sorted()
    guard let first = all.first else { return nil }
    let named = all.prefix(Self.mostNamed).map(\.description).joined(separator: ", ")
    let more = all.count > Self.mostNamed ? " and \(all.count - Self.mostNamed) more" : ""
    return
      "passed over: the store has log bytes, but no sidecar, of \(named)\(more): being uploaded or "
      + "deleted at this moment, or the sidecar was deleted; then run 'tidemark verify --repair \(first)' "
      + "where it was recorded"
  }

  /// Says which sessions a command passed over.
  func reportPassedOver() {
    if let line = passedOverLine { Console.complain(line) }
  }
}

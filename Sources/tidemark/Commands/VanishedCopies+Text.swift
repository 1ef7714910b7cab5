import Platform
import SessionLog
import Sync

extension VanishedCopies {
  /// One line for a person about each kind of rest, with the command that ends it.
  ///
  /// - Parameter store: the store's location.
  func lines(_ store: String) -> [String] {
    let store = String(oneLine: store)
    func named(_ sessions: [SessionID]) -> String {
      let more = sessions.count > 5 ? " and \(sessions.count - 5) more" : ""
      return sessions.prefix(5).map(\.description).joined(separator: ", ") + more
    }
    func line(_ rest: Rest, _ next: (_ isOne: Bool) -> String) -> String? {
      let sessions = sessions(leaving: rest)
      guard let first = sessions.first else { return nil }
      let isOne = sessions.count == 1
      return "\(isOne ? "\(first) was" : "\(sessions.count) sessions were") proven in \(store) and "
        + "\(isOne ? "is" : "are") not there any more: "
        + "somebody deleted objects, or an older copy of the store took its place; "
        + next(isOne) + (isOne ? "" : ": \(named(sessions))")
    }
    let source = "put the objects back from a backup or the bucket's versions"
    return [
      line(.whole) {
        "'tidemark verify --repair' sends \($0 ? "it" : "them") again, 'tidemark delete ID' deletes "
          + "\($0 ? "it" : "them") from this machine too"
      },
      line(.trash) {
        "'tidemark restore ID' brings \($0 ? "it" : "them") back from the trash, and 'tidemark verify "
          + "--repair' sends \($0 ? "it" : "them") again"
      },
      line(.end) {
        "LOST but for \($0 ? "its end" : "their ends"), which this machine has; \(source)"
      },
      line(.nothing) { "the only \($0 ? "copy is" : "copies are") LOST; \(source)" },
    ].compactMap(\.self)
  }
}

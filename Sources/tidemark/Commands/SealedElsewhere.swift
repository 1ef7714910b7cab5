import Platform
import SessionLog

/// The messages about sessions that were sealed in another store.
enum SealedElsewhere {
  /// A message that they stay on this machine, and the command that ends that.
  static func text(_ count: Int, _ store: String) -> String {
    let (sessions, them) = (Plural.text(count, "session"), count == 1 ? "it" : "them")
    return
      "\(sessions) on this machine \(count == 1 ? "is" : "are") sealed in another store, which this "
      + "home does not ask any more, and \(count == 1 ? "stays" : "stay") here: 'tidemark retry --moved' "
      + "sends \(them) to \(store) as well"
  }

  /// A message that copies stay in the trash, which they are, and the commands that end that.
  static func text(inTrash sessions: [SessionID], _ store: String) -> String {
    let isOne = sessions.count == 1
    let (them, copies) = (isOne ? "it" : "them", isOne ? "copy expires" : "copies expire")
    let named = sessions.prefix(5).map(\.description).joined(separator: ", ")
    let more = sessions.count > 5 ? " and \(sessions.count - 5) more" : ""
    return
      "\(Plural.text(sessions.count, "session")) in the trash \(isOne ? "is" : "are") sealed in another store, "
      + "which this home does not ask any more, and \(isOne ? "stays" : "stay") there until the remote "
      + "\(copies): 'tidemark restore ID', then 'tidemark retry --moved' sends \(them) to \(store) as "
      + "well, 'tidemark delete --local ID' deletes \(them): \(named)\(more)"
  }
}

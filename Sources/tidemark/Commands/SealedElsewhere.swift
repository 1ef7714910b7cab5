import Platform

/// The message about sessions that were sealed in another store.
enum SealedElsewhere {
  /// A message that they stay on this machine, and the command that ends that.
  static func text(_ count: Int, _ store: String) -> String {
    let (sessions, them) = (Plural.text(count, "session"), count == 1 ? "it" : "them")
    return
      "\(sessions) on this machine \(count == 1 ? "is" : "are") sealed in another store, which this "
      + "home does not ask any more, and \(count == 1 ? "stays" : "stay") here: 'tidemark retry --moved' "
      + "sends \(them) to \(store) as well"
  }
}

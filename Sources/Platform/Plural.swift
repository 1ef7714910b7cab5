/// Counted nouns in text for people: `1 session`, `2 sessions`.
package enum Plural {
  /// A number and its noun.
  ///
  /// - Parameters:
  ///   - count: the number.
  ///   - one: the singular.
  ///   - many: the plural, if it is not the singular and an `s`.
  package static func text(_ count: Int, _ one: String, _ many: String? = nil) -> String {
    "\(count) \(word(count, one, many))"
  }

  /// The noun for a number, without the number.
  package static func word(_ count: Int, _ one: String, _ many: String? = nil) -> String {
    count == 1 ? one : many ?? one + "s"
  }

  /// `once`, `twice`, `3 times`.
  package static func times(_ count: Int) -> String {
    switch count {
    case 1: "once"
    case 2: "twice"
    default: "\(count) times"
    }
  }
}

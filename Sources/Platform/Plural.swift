/// Numbers of things in text for people: `1 session`, `2 sessions`.
package enum Plural {
  /// A number and what it counts.
  ///
  /// - Parameters:
  ///   - count: how many.
  ///   - one: the singular.
  ///   - many: the plural, where it is not the singular and an `s`.
  package static func text(_ count: Int, _ one: String, _ many: String? = nil) -> String {
    "\(count) \(word(count, one, many))"
  }

  /// What a number counts, without the number.
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

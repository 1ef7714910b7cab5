/// A violation of a rule.
package struct Violation: Hashable, Sendable, CustomStringConvertible {
  /// The rules that the product is judged by.
  package enum Rule: String, Sendable {
    /// Every acknowledged byte is readable in the home, or in objects that decode.
    case durability
    /// A deletion has evidence.
    case evidence
    /// A deletion is in the ledger of the home that made it.
    case ledger
    /// A local copy deleted for its age is in the trash for a week.
    case trash
    /// A session with a hold stays.
    case hold
    /// A local copy stays for the configured time after its seal, and at least for an hour.
    case pause
    /// A reader gets the stream or a strict prefix, and no less than before; a mirror has sidecars
    /// as sent.
    case reading
    /// Everything unsent three passes after the last fault has a reason.
    case liveness
    /// Copies only grow.
    case growth
    /// Text that rules mask, or the consent withholds, is not in the store.
    case privacy
    /// A store without its marker is not used.
    case marker
    /// One command at a time works in a home.
    case exclusion
    /// A plan changes nothing but caches.
    case planning
    /// One history has one trace.
    case determinism
  }

  /// The rule that was broken.
  package let rule: Rule
  /// The event.
  package let text: String

  init(_ rule: Rule, _ text: String) { (self.rule, self.text) = (rule, text) }

  /// The rule and the event.
  package var description: String { "\(rule.rawValue): \(text)" }
}

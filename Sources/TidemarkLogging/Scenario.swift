public import SessionLog
import Synchronization

/// A kind of record that is written only while it is switched on, with `tidemark scenario enable`.
///
/// ```swift
/// extension Scenario {
///   static let checkout = Scenario("Checkout")
/// }
/// session.debug("basket: \(basket)", scenario: .checkout)
/// ```
///
/// It is off until somebody switches it on, and stays what it is set to when programs and machine
/// restart. While it is off, messages are not evaluated.
public struct Scenario: Sendable, Hashable {
  /// The name; nil where the text cannot be one: such a scenario is always off.
  public let name: ScenarioName?
  private let cache = GateCache()

  /// Names a scenario: 1 to 64 bytes of UTF-8 without braces and control characters.
  public init(_ name: String) { self.name = ScenarioName(name) }

  /// By their names.
  public static func == (left: Scenario, right: Scenario) -> Bool { left.name == right.name }

  /// Hashes the name.
  public func hash(into hasher: inout Hasher) { hasher.combine(name) }

  /// Its gate in a session; the session of the first call is looked up but once.
  func gate(in session: LogSession) -> ScenarioGate? {
    if let known = cache.first.load(), known.session === session { return known.gate }
    guard let name, let writer = session.writer else { return nil }
    let gate = writer.gate(name)
    _ = cache.first.storeIfNil(KnownGate(session, gate))
    return gate
  }

  private final class GateCache: Sendable {
    let first = AtomicLazyReference<KnownGate>()
  }
}

private final class KnownGate: Sendable {
  let session: LogSession
  let gate: ScenarioGate

  init(_ session: LogSession, _ gate: ScenarioGate) {
    (self.session, self.gate) = (session, gate)
  }
}

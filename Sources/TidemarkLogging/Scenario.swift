import Platform
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
/// It is off until it is switched on, and keeps its state when programs and machine restart. While
/// it is off, messages are not evaluated, and a record costs no more than one below its logger's
/// level. Make a scenario once and keep it, as above: each new one looks its state up again.
public struct Scenario: Sendable, Hashable {
  private let gates: KnownGates

  /// The name; nil if the text is not a valid one: such a scenario is always off.
  public var name: ScenarioName? { gates.name }

  /// Names a scenario: 1 to 64 bytes of UTF-8 without braces and control characters.
  public init(_ name: String) { gates = KnownGates(ScenarioName(name)) }

  /// Compares names.
  public static func == (left: Scenario, right: Scenario) -> Bool { left.name == right.name }

  /// Hashes the name.
  public func hash(into hasher: inout Hasher) { hasher.combine(name) }

  /// Whether a record may be written; counts those that may not.
  @inline(__always)
  func admits(in session: LogSession) -> Bool {
    gates.answer(session) { $0.admits() } ?? gates.gate(in: session)?.admits() ?? false
  }

  /// Its gate in a session; nil without a session or a valid name.
  func gate(in session: LogSession) -> ScenarioGate? { gates.gate(in: session) }
}

/// A scenario's gates in the sessions of this process.
private final class KnownGates: Sendable {
  let name: ScenarioName?
  /// Address of the gate that was looked up last; 0 before the first.
  private let latest = Atomic<UInt>(0)
  private let kept = Guarded<[KnownGate]>([])

  /// Maximum number of gates kept.
  ///
  /// A program rarely has more sessions; gates of later ones are looked up each time.
  private static let most = 64

  init(_ name: ScenarioName?) { self.name = name }

  /// Queries the gate that was looked up last; nil if it is another session's.
  ///
  /// A record of a scenario that is off costs no more than this, without reference counting.
  @inline(__always)
  func answer(_ session: LogSession, _ question: (ScenarioGate) -> Bool) -> Bool? {
    guard let address = UnsafeRawPointer(bitPattern: latest.load(ordering: .acquiring)) else {
      return nil
    }
    // A published gate is kept as long as this object.
    return Unmanaged<KnownGate>.fromOpaque(address)._withUnsafeGuaranteedRef { known in
      known.session == session.number ? question(known.gate) : nil
    }
  }

  func gate(in session: LogSession) -> ScenarioGate? {
    guard let name, let writer = session.writer else { return nil }
    if let known = kept.withLock({ $0.first { $0.session == session.number } }) {
      publish(known)
      return known.gate
    }
    let gate = writer.gate(name)
    let known = KnownGate(session.number, gate)
    let isKept = kept.withLock { kept in
      guard kept.count < Self.most else { return false }
      kept.append(known)
      return true
    }
    if isKept { publish(known) }
    return gate
  }

  private func publish(_ known: KnownGate) {
    latest.store(UInt(bitPattern: Unmanaged.passUnretained(known).toOpaque()), ordering: .releasing)
  }
}

private final class KnownGate: Sendable {
  /// ``LogSession/number``: an address may be another session's later.
  let session: Int
  let gate: ScenarioGate

  init(_ session: Int, _ gate: ScenarioGate) { (self.session, self.gate) = (session, gate) }
}

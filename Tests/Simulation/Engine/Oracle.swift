import ObjectStore
import Platform
import Replica
import SessionLog
import Sync

/// Knows what every write returned and what the store truly holds, and judges by that alone what the
/// product does.
final class Oracle: Sendable {
  /// The bytes that were written to a session's log, as the system took them.
  typealias Stream = Guarded<[UInt8]>

  private struct State {
    var streams: [SessionID: Stream] = [:]
    /// Sessions that somebody asked to delete.
    var asked: Set<SessionID> = []
    /// Sessions whose remote copy may have gone for its age.
    var expired: Set<SessionID> = []
    /// Sessions that began where no log may leave, and goes on so.
    var withheld: Set<SessionID> = []
    /// Sessions whose age alone decides, as their logs may not have been allowed to leave.
    var aging: Set<SessionID> = []
    /// Whether the rules of any home were ever others than the built-in ones.
    var hasOtherRules = false
    /// Homes that have sent something.
    var users: Set<String> = []
    /// Lines of other programs whose remote copies have gone lawfully.
    var retired: Set<Int> = []
    /// What uploads said of sessions, by home.
    var reasons: [String: [SessionID: String]] = [:]
    /// Homes whose last upload reported a problem with a session.
    var troubled: Set<String> = []
    /// How far the server's clock was ever set wrong, in milliseconds.
    var serverSteps: Int64 = 0
    /// Whether objects or homes were changed behind the product's back.
    var isTampered = false
    /// The most bytes that a reader got of each session.
    var readable: [SessionID: Int] = [:]
    /// Sidecars that were sent, whatever became of them on their way.
    var sidecars: Set<[UInt8]> = []
    /// When sessions came into the trash of a home, in milliseconds.
    var trashed: [String: Int64] = [:]
    /// The process that works in each home.
    var workers: [String: String] = [:]
    var violations: [Violation] = []
  }

  private let state = Guarded(State())
  let store: ModelStore
  let time: SimulatedTime

  init(_ store: ModelStore, _ time: SimulatedTime) { (self.store, self.time) = (store, time) }

  // MARK: What it hears of

  func newStream() -> Stream { Stream([]) }

  /// A recorder has begun a session.
  ///
  /// - Parameter isWithheld: whether its log may not leave the machine.
  func begin(_ session: SessionID, _ stream: Stream, isWithheld: Bool) {
    state.withLock { state in
      state.streams[session] = stream
      if isWithheld { state.withheld.insert(session) }
    }
  }

  /// Logs may leave from now on.
  func allowLogs() { state.withLock { $0.withheld = [] } }

  /// Whether no byte of a session's log may ever have left.
  func isWithheld(_ session: SessionID) -> Bool { state.withLock { $0.withheld.contains(session) } }

  /// An upload that may not send logs looks at these sessions: what has ended goes by its age alone.
  func letAge(_ sessions: [SessionID]) { state.withLock { $0.aging.formUnion(sessions) } }

  /// Whether a session's local bytes may go by their age alone.
  func isAging(_ session: SessionID) -> Bool { state.withLock { $0.aging.contains(session) } }

  /// Other rules than the built-in ones are configured.
  func noteOtherRules() { state.withLock { $0.hasOtherRules = true } }

  /// The homes that have sent something.
  var users: Set<String> { state.withLock { $0.users } }

  /// The server's clock was set to another time.
  func noteServerStep(_ milliseconds: Int64) {
    state.withLock { $0.serverSteps += abs(milliseconds) }
  }

  /// How much more than a day a restart may add to lived time by the server's word, in milliseconds.
  var serverSteps: Int64 { state.withLock { $0.serverSteps } }

  /// Objects or homes are changed behind the product's back.
  func noteTampering() { state.withLock { $0.isTampered = true } }

  /// A sidecar is sent.
  func noteSidecar(_ json: [UInt8]) { state.withLock { _ = $0.sidecars.insert(json) } }

  /// Whether a sidecar was sent as it is.
  func wasSent(_ json: [UInt8]) -> Bool { state.withLock { $0.sidecars.contains(json) } }

  /// A session is in the trash of a home.
  func noteTrash(_ session: SessionID, in home: Home, isNew: Bool) {
    let key = "\(home.path) \(session)"
    state.withLock { if isNew || $0.trashed[key] == nil { $0.trashed[key] = time.milliseconds } }
  }

  /// When a session came into the trash of a home, in milliseconds; now where that was not seen.
  func trashed(_ session: SessionID, in home: Home) -> Int64 {
    state.withLock { $0.trashed["\(home.path) \(session)"] } ?? time.milliseconds
  }

  /// A process has taken the lock of a home.
  func enter(_ home: Home, _ process: String) {
    let other = state.withLock { state in
      defer { state.workers[home.path] = process }
      return state.workers[home.path]
    }
    if let other {
      report(.init(.exclusion, "\(process) and \(other) work in \(home.path) at the same time"))
    }
  }

  /// A process has given it back, if it had it.
  func leave(_ home: Home, _ process: String) {
    state.withLock { if $0.workers[home.path] == process { $0.workers[home.path] = nil } }
  }

  /// Somebody asks to delete a session.
  func ask(for session: SessionID) { state.withLock { _ = $0.asked.insert(session) } }

  /// An upload has said what it did.
  func note(_ report: UploadReport, of home: Home) {
    var reasons: [SessionID: String] = [:]
    // A pause after a failure ends by itself.
    for held in report.held where held.kind != .passing { reasons[held.session] = held.reason }
    // Lines of other programs may also wait because a person withdrew their session.
    let isTroubled =
      !report.failures.isEmpty
      || report.held.contains { $0.kind == .problem || $0.why == .withdrawn }
    for failure in report.failures { reasons[failure.session] = "\(failure.error)" }
    state.withLock { state in
      state.reasons[home.path] = reasons
      if isTroubled { state.troubled.insert(home.path) } else { state.troubled.remove(home.path) }
      if report.objects > 0 { state.users.insert(home.path) }
    }
  }

  /// Why the last upload of a home did not send a session; nil where it said nothing of it.
  func reason(_ session: SessionID, in home: Home) -> String? {
    state.withLock { $0.reasons[home.path]?[session] }
  }

  func isAsked(_ session: SessionID) -> Bool { state.withLock { $0.asked.contains(session) } }

  /// A session's remote copy is old enough to go.
  func expire(_ session: SessionID) { state.withLock { _ = $0.expired.insert(session) } }

  func hasExpired(_ session: SessionID) -> Bool { state.withLock { $0.expired.contains(session) } }

  /// Lines of other programs have lawfully gone from the store.
  func retire(_ lines: some Sequence<Int>) { state.withLock { $0.retired.formUnion(lines) } }

  func isRetired(_ line: Int) -> Bool { state.withLock { $0.retired.contains(line) } }

  /// Whether the last upload of a home reported a problem with any session.
  ///
  /// That an attached file is not there is none: then no line of it is there either.
  func isTroubled(_ home: Home) -> Bool { state.withLock { $0.troubled.contains(home.path) } }

  /// The bytes that were written to a recorded session.
  func written(_ session: SessionID) -> [UInt8]? {
    state.withLock { $0.streams[session] }?.withLock { $0 }
  }

  // MARK: What it finds

  /// Judges a segment in the store.
  ///
  /// - Parameter isBare: whether it has a password that is not masked.
  func judge(_ segment: SegmentName, isBare: Bool) {
    let (isWithheld, hasOtherRules) = state.withLock {
      ($0.withheld.contains(segment.session), $0.hasOtherRules)
    }
    if isWithheld {
      report(.init(.privacy, "\(segment) was sent, and the consent is 'metadata'"))
    }
    if !hasOtherRules, isBare {
      report(.init(.privacy, "\(segment) has a password that its rules mask"))
    }
  }

  /// Something that must not happen.
  func report(_ violation: Violation) { state.withLock { $0.violations.append(violation) } }

  /// What was found since the last call.
  func takeViolations() -> [Violation] {
    state.withLock { state in
      defer { state.violations = [] }
      return state.violations
    }
  }

  /// Judges what a reader gets of a session whose store nobody has tampered with: what could be read
  /// once can be read until it expires.
  func judgeGrowth(_ count: Int, readFrom session: SessionID) {
    let before = state.withLock { state in
      defer { state.readable[session] = max(count, state.readable[session] ?? 0) }
      return state.isTampered ? 0 : state.readable[session] ?? 0
    }
    guard count < before, !isAsked(session), !hasExpired(session) else { return }
    report(
      .init(.reading, "a reader of \(session) got \(count) bytes, and \(before) were there before"))
  }

  /// Judges what a reader got of a session.
  func judge(_ bytes: [UInt8], readFrom session: SessionID) {
    guard let written = written(session) else { return }
    if let position = Masked.difference(bytes, written) {
      report(
        .init(
          .reading,
          "a reader of \(session) got other bytes from \(position) on (\(bytes.count) read, "
            + "\(written.count) written)"))
    }
  }
}

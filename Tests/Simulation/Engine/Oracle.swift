import ObjectStore
import Platform
import Replica
import SessionLog
import Sync
import TidemarkUpload

/// Knows what every write returned and what the store really holds, and judges the product by that
/// alone.
final class Oracle: Sendable {
  /// The bytes written to a session's log, as accepted by the system.
  typealias Stream = Guarded<[UInt8]>

  private struct State {
    var streams: [SessionID: Stream] = [:]
    /// Sessions whose deletion was requested.
    var asked: Set<SessionID> = []
    /// Sessions whose remote copy may have been deleted for its age.
    var expired: Set<SessionID> = []
    /// Sessions that began while no log could be sent, and for which that still holds.
    var withheld: Set<SessionID> = []
    /// Sessions whose age alone suffices, because their logs may not have been allowed to be sent.
    var aging: Set<SessionID> = []
    /// Homes of whose logs the last upload that reached the store may have withheld some.
    var withholdingHomes: Set<String> = []
    /// Homes whose configured rules mask nothing.
    var bareHomes: Set<String> = []
    /// Sessions that existed while a home had such rules: their secrets may be in the store.
    var bare: Set<SessionID> = []
    /// Sessions that several homes have sealed, or may seal.
    var copied: Set<SessionID> = []
    /// Whether a home was cloned.
    var hasClones = false
    /// Sessions whose local log a person has changed, or lost a part of.
    var changed: Set<SessionID> = []
    /// Homes that have sent something.
    var users: Set<String> = []
    /// Other programs' lines whose remote copies were legitimately deleted.
    var retired: Set<Int> = []
    /// Reasons given by uploads for sessions, by home.
    var reasons: [String: [SessionID: String]] = [:]
    /// Homes whose last upload left the rest of a session to the next one.
    var unfinished: Set<String> = []
    /// Homes whose last upload reported a problem with a session.
    var troubled: Set<String> = []
    /// The largest error of the server's clock so far, in milliseconds.
    var serverSteps: Int64 = 0
    /// Whether objects or homes were changed behind the product's back.
    var isTampered = false
    /// The most bytes that a reader got of each session in its last generation.
    var readable: [SessionID: (generation: Int, count: Int)] = [:]
    /// Sidecars as sent, before any damage in transit.
    var sidecars: Set<[UInt8]> = []
    /// Keys of the revisions that were sent.
    var revisions: Set<String> = []
    /// When sessions entered the trash of a home, in milliseconds.
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

  /// Records that a recorder has begun a session.
  ///
  /// - Parameter isWithheld: whether its log must not be sent.
  func begin(_ session: SessionID, _ stream: Stream, isWithheld: Bool) {
    state.withLock { state in
      state.streams[session] = stream
      if isWithheld { state.withheld.insert(session) }
      if !state.bareHomes.isEmpty { state.bare.insert(session) }
    }
  }

  /// Records that logs may be sent from now on.
  func allowLogs() { state.withLock { $0.withheld = [] } }

  /// Whether no byte of a session's log may ever have been sent.
  func isWithheld(_ session: SessionID) -> Bool { state.withLock { $0.withheld.contains(session) } }

  /// Records that an upload without permission to send logs processes these sessions: for ended
  /// ones age alone suffices.
  func letAge(_ sessions: [SessionID]) { state.withLock { $0.aging.formUnion(sessions) } }

  /// Whether a session's local bytes may be deleted by age alone.
  func isAging(_ session: SessionID) -> Bool { state.withLock { $0.aging.contains(session) } }

  /// Records that a command that must not send logs begins in a home.
  func recordWithholding(in home: Home) {
    state.withLock { _ = $0.withholdingHomes.insert(home.path) }
  }

  /// Whether the logs of other programs that a home knows may still be withheld, whatever its
  /// configuration says now.
  func mayWithhold(_ home: Home) -> Bool {
    state.withLock { $0.withholdingHomes.contains(home.path) }
  }

  /// Records which rules a home has from now on.
  func recordRules(maskSecrets: Bool, of home: Home) {
    state.withLock { state in
      if maskSecrets {
        state.bareHomes.remove(home.path)
      } else {
        state.bareHomes.insert(home.path)
        state.bare.formUnion(state.streams.keys)
      }
    }
  }

  /// Records that another home has these sessions, too, and from now on the same device.
  func recordCopies(of sessions: [SessionID]) {
    state.withLock { state in
      state.copied.formUnion(sessions)
      state.hasClones = true
    }
  }

  /// Whether several homes may send as one device.
  var hasClones: Bool { state.withLock(\.hasClones) }

  /// Whether several homes have a session, so that each one's copy has an age of its own.
  func isCopied(_ session: SessionID) -> Bool { state.withLock { $0.copied.contains(session) } }

  /// Records that a person has changed a session's local log, or lost a part of it.
  func recordChange(of session: SessionID) { state.withLock { _ = $0.changed.insert(session) } }

  /// Whether a local log may differ from what was recorded.
  func isChanged(_ session: SessionID) -> Bool { state.withLock { $0.changed.contains(session) } }

  /// The homes that have sent something.
  var users: Set<String> { state.withLock { $0.users } }

  /// Records that the server's clock was set.
  func recordServerStep(_ milliseconds: Int64) {
    state.withLock { $0.serverSteps += abs(milliseconds) }
  }

  /// How much more than a day a restart may add to lived time according to the server, in
  /// milliseconds.
  var serverSteps: Int64 { state.withLock { $0.serverSteps } }

  /// Records that objects or homes are changed behind the product's back.
  func recordTampering() { state.withLock { $0.isTampered = true } }

  /// Records that a sidecar is sent.
  func recordSidecar(_ json: [UInt8], at key: String) {
    state.withLock { state in
      state.sidecars.insert(json)
      state.revisions.insert(key)
    }
  }

  /// Whether a revision was sent under a key, which has the start of its hash.
  func hasSent(_ key: String) -> Bool { state.withLock { $0.revisions.contains(key) } }

  /// Whether a sidecar was sent in this form.
  func wasSent(_ json: [UInt8]) -> Bool { state.withLock { $0.sidecars.contains(json) } }

  /// Records that a session is in the trash of a home.
  func recordTrash(_ session: SessionID, in home: Home, isNew: Bool) {
    let key = "\(home.path) \(session)"
    state.withLock { if isNew || $0.trashed[key] == nil { $0.trashed[key] = time.milliseconds } }
  }

  /// Records that a copy of a home has its trash, too.
  func recordTrash(of home: Home, copiedTo copy: Home) {
    state.withLock { state in
      for (key, time) in state.trashed where key.hasPrefix("\(home.path) ") {
        state.trashed[copy.path + key.dropFirst(home.path.count)] = time
      }
    }
  }

  /// When a session entered the trash of a home, in milliseconds; now if unknown.
  func trashed(_ session: SessionID, in home: Home) -> Int64 {
    state.withLock { $0.trashed["\(home.path) \(session)"] } ?? time.milliseconds
  }

  /// Records that a process has acquired the lock of a home.
  func enter(_ home: Home, _ process: String) {
    let other = state.withLock { state in
      defer { state.workers[home.path] = process }
      return state.workers[home.path]
    }
    if let other {
      report(.init(.exclusion, "\(process) and \(other) work in \(home.path) at the same time"))
    }
  }

  /// Records that a process has released it, if it held it.
  func leave(_ home: Home, _ process: String) {
    state.withLock { if $0.workers[home.path] == process { $0.workers[home.path] = nil } }
  }

  /// Records that the deletion of a session was requested.
  func ask(for session: SessionID) { state.withLock { _ = $0.asked.insert(session) } }

  /// Records an upload's report.
  ///
  /// - Parameter consent: what it was allowed to send.
  func record(_ pass: UploadPassReport, of home: Home, consent: Consent) {
    let report = pass.upload
    var reasons: [SessionID: String] = [:]
    for copy in pass.vanished.copies { reasons[copy.session] = "its remote copy is gone" }
    // A pause after a failure ends by itself.
    for held in report.skipped where held.kind != .transient { reasons[held.session] = held.reason }
    // Other programs' lines may also wait because a person withdrew their session.
    let isTroubled =
      !report.failures.isEmpty || !pass.vanished.isEmpty
      || report.skipped.contains { $0.kind == .problem || $0.why == .withdrawn }
    for failure in report.failures { reasons[failure.session] = "\(failure.error)" }
    state.withLock { state in
      state.reasons[home.path] = reasons
      if report.leftToNextPass.isEmpty {
        state.unfinished.remove(home.path)
      } else {
        state.unfinished.insert(home.path)
      }
      if isTroubled { state.troubled.insert(home.path) } else { state.troubled.remove(home.path) }
      if report.objects > 0 { state.users.insert(home.path) }
      if consent == .logs, report.stoppedBy == nil { state.withholdingHomes.remove(home.path) }
    }
  }

  /// Whether the last upload of a home left the rest of a session to the next one.
  var isUnfinished: Bool { state.withLock { !$0.unfinished.isEmpty } }

  /// Why the last upload of a home did not send a session; nil if it gave no reason.
  func reason(_ session: SessionID, in home: Home) -> String? {
    state.withLock { $0.reasons[home.path]?[session] }
  }

  func isAsked(_ session: SessionID) -> Bool { state.withLock { $0.asked.contains(session) } }

  /// Records that a session's remote copy is old enough to be deleted.
  func expire(_ session: SessionID) { state.withLock { _ = $0.expired.insert(session) } }

  func hasExpired(_ session: SessionID) -> Bool { state.withLock { $0.expired.contains(session) } }

  /// Records that other programs' lines were legitimately deleted from the store.
  func retire(_ lines: some Sequence<Int>) { state.withLock { $0.retired.formUnion(lines) } }

  func isRetired(_ line: Int) -> Bool { state.withLock { $0.retired.contains(line) } }

  /// Whether the last upload of a home reported a problem with any session.
  ///
  /// A missing attached file is not a problem: then none of its lines is there either.
  func isTroubled(_ home: Home) -> Bool { state.withLock { $0.troubled.contains(home.path) } }

  /// The bytes written to a recorded session.
  func written(_ session: SessionID) -> [UInt8]? {
    state.withLock { $0.streams[session] }?.withLock { $0 }
  }

  // MARK: What it finds

  /// Judges a segment in the store.
  ///
  /// - Parameter isBare: whether it contains an unmasked secret.
  func judge(_ segment: SegmentName, isBare: Bool) {
    let (isWithheld, mayBeBare) = state.withLock {
      ($0.withheld.contains(segment.session), $0.bare.contains(segment.session))
    }
    if isWithheld {
      report(.init(.privacy, "\(segment) was sent, and the consent is 'metadata'"))
    }
    if !mayBeBare, isBare {
      report(.init(.privacy, "\(segment) has a secret that its rules mask"))
    }
  }

  /// Reports a violation.
  func report(_ violation: Violation) { state.withLock { $0.violations.append(violation) } }

  /// The violations since the last call.
  func takeViolations() -> [Violation] {
    state.withLock { state in
      defer { state.violations = [] }
      return state.violations
    }
  }

  /// Judges what a reader gets of a session while its store is not tampered with: what could be
  /// read once of a generation can be read until it expires.
  func judgeGrowth(_ count: Int, ofGeneration generation: Int, readFrom session: SessionID) {
    let before = state.withLock { state in
      let last = state.readable[session]
      let known = last?.generation == generation ? last?.count ?? 0 : 0
      state.readable[session] = (generation, max(count, known))
      return state.isTampered ? 0 : known
    }
    guard count < before, !isAsked(session), !hasExpired(session) else { return }
    report(
      .init(.reading, "a reader of \(session) got \(count) bytes, and \(before) were there before"))
  }

  /// Judges what a reader got of a session.
  func judge(_ bytes: [UInt8], readFrom session: SessionID) {
    // A changed log may be sent once its remote copy is gone.
    let isSentAnew = isChanged(session) && (isAsked(session) || hasExpired(session))
    guard !isSentAnew, let written = written(session) else { return }
    if let position = Masked.difference(bytes, written) {
      report(
        .init(
          .reading,
          "a reader of \(session) got other bytes from \(position) on (\(bytes.count) read, "
            + "\(written.count) written)"))
    }
  }
}

package import ObjectStore
package import Platform
import Replica
package import SessionLog

/// The work of one pass, determined from this machine alone.
package struct UploadPlan: Sendable {
  /// A session with work to do.
  package struct Item: Sendable {
    /// The session.
    package let session: SessionID
    /// Whether it reads a foreign file.
    package let isAttached: Bool
    /// Length of the local log in bytes.
    package let length: StreamOffset
    /// Bytes known to be in the store; nil if it has to be listed first.
    package let sent: StreamOffset?
    /// The offset up to which more can be sent; nil to determine it during the upload.
    let sendableEnd: StreamOffset?
    /// Bytes in the store according to the last pass, before a listing confirms them; equal to
    /// ``sent`` if that is known.
    var remembered = StreamOffset.zero
    /// Why no more can be sent; nil if all can, or to determine it during the upload.
    let rest: WaitReason?
    /// How the session ended; nil while it is open.
    package let verdict: Verdict?
    /// Whether its log is sent, or its sidecar only.
    package let consent: Consent
    /// The device id that it was recorded under, if another one: the session is sent again; nil
    /// once that has begun.
    package let formerDevice: String?
    /// Why the last attempt failed; nil if it did not.
    let lastFailure: WaitReason?

    /// Log bytes still to be sent, as far as is known without a listing.
    package var unsent: ByteCount {
      consent == .logs ? max(0, length - (sent ?? remembered)) : 0
    }

    /// Whether little is to be sent: a tick, or a small log as a whole.
    ///
    /// The seal may send everything again.
    var isSmall: Bool {
      (verdict == nil && sent != nil ? unsent : length.byteCount) <= 64 << 10
    }
  }

  /// A session that this pass skips.
  package struct Skipped: Sendable {
    /// The session.
    package let session: SessionID
    /// The reason.
    package let why: WaitReason

    /// The reason, for a person.
    package var reason: String { why.text }
    /// The kind of the reason.
    package var kind: WaitReason.Kind { why.kind }
  }

  /// What is over for a session with nothing to do.
  enum Finish {
    /// It is sealed, by a pass that died before it removed what leads to the session.
    case seal
    /// Passes need not visit it, at least until its file grows or ends.
    case visits
  }

  /// Sessions to work on, those with the fewest failures first, and of these the ones with the least
  /// to send.
  package var items: [Item] = []
  /// Sealed sessions with superseded objects.
  package var superseded: [SessionID] = []
  /// Skipped sessions with the reasons; those with nothing new are omitted.
  package var skipped: [Skipped] = []

  /// Sessions with nothing to do, from which the execution removes what leads passes to them.
  var finished: [SessionID: Finish] = [:]

  /// Open sessions that the last upload found under another consent: the present one, nil if the
  /// store's newest revision states it.
  var found: [SessionID: Consent?] = [:]

  /// Open recorded sessions whose log has a time in the future: a clock was wrong, and the log would
  /// count as written to until that time.
  var ahead: [SessionID] = []

  /// Log bytes that have not been sent, each with the reason; sessions without any are omitted
  /// unless they are skipped.
  package var waiting: [WaitingBytes] = []
  /// Log bytes of unsealed sessions that were sent, but whose objects the store has not proven yet.
  package var unproven: ByteCount = 0

  /// The last pass's failure because of which the store is not tried now; nil if it is.
  package var storeBackoff: StoreError?

  /// Why the last pass failed for all sessions; nil if it did not.
  var lastFailure: WaitReason?

  /// The waiting bytes and sessions between two passes, for a person: if the last pass failed, its
  /// failure is the reason for bytes that the next pass sends.
  package var waitingSinceLastPass: [WaitingBytes] {
    let failures = Dictionary(
      items.compactMap { item in
        (item.lastFailure ?? lastFailure).map { (item.session, $0) }
      }, uniquingKeysWith: { first, _ in first })
    let told = waiting.map { one in
      guard one.reason == .nextUpload, let reason = failures[one.session] else { return one }
      return WaitingBytes(session: one.session, reason: reason, bytes: one.bytes)
    }
    let known = Set(told.lazy.filter { $0.reason.kind != .idle }.map(\.session))
    // Sessions whose every byte was sent, but which could not be sealed.
    let rest = failures.filter { !known.contains($0.key) }.sorted { $0.key < $1.key }
    return told + rest.map { WaitingBytes(session: $0.key, reason: $0.value, bytes: 0) }
  }

  /// Sums of ``waitingSinceLastPass`` by reason, with the growth of attached files, which the next
  /// pass sends too.
  package func sumsSinceLastPass(_ growth: AttachPlan.Growth) -> [WaitingSum] {
    var waiting = WaitingSum.sums(of: waitingSinceLastPass)
    func add(_ reason: WaitReason, _ bytes: ByteCount, _ sessions: Int) {
      if let index = waiting.firstIndex(where: { $0.reason.code == reason.code }) {
        waiting[index].bytes += bytes
        waiting[index].sessions += sessions
      } else {
        waiting.append(WaitingSum(reason: reason, bytes: bytes, sessions: sessions))
      }
    }
    if growth.sessions > 0 { add(lastFailure ?? .nextUpload, growth.bytes, growth.sessions) }
    // Each is a session, or would be one.
    for (text, bytes) in growth.unreadable { add(.unreadable(text), bytes, 1) }
    return waiting
  }

  /// Whether anything that may leave this machine waits to be sent.
  ///
  /// - Parameters:
  ///   - growth: what attached files have besides.
  ///   - consent: the configured consent.
  package func waits(besides growth: AttachPlan.Growth, consent: Consent) -> Bool {
    guard consent == .logs else { return !items.isEmpty }
    return sumsSinceLastPass(growth).contains { $0.bytes > 0 && $0.reason != .consent }
  }

  /// Restricts the plan to one session.
  package mutating func restrict(to session: SessionID) {
    items.removeAll { $0.session != session }
    skipped.removeAll { $0.session != session }
    waiting.removeAll { $0.session != session }
    finished = finished.filter { $0.key == session }
    found = found.filter { $0.key == session }
    ahead.removeAll { $0 != session }
    superseded = []
  }

  /// Leaves the logs of other programs to the next pass that finds out first what rotation has made of
  /// them.
  ///
  /// - Parameter named: sessions to keep, whose files were compared with what was sent.
  package mutating func leaveAttached(besides named: [SessionID]) {
    items.removeAll { $0.isAttached && !named.contains($0.session) }
  }

  /// Replaces the reason for which everything to be sent waits.
  mutating func wait(for reason: WaitReason) {
    waiting = waiting.map {
      $0.reason == .nextUpload
        ? WaitingBytes(session: $0.session, reason: reason, bytes: $0.bytes) : $0
    }
  }

  /// Log bytes that have not been sent, for any reason.
  package var waitingBytes: ByteCount { waiting.reduce(0) { $0 + $1.bytes } }

  /// The waiting bytes of a home that sends nothing and has no record of what was sent.
  ///
  /// - Parameters:
  ///   - home: the home.
  ///   - reason: why it sends nothing.
  /// - Throws: ``Platform/SystemError``.
  package static func withoutStore(
    _ home: Home, reason: WaitReason = .disabled
  ) throws -> [WaitingBytes] {
    try home.openSessions().compactMap { session in
      let length = try? LocalSession(home, session).openLog(nil)?.status().length.byteCount
      guard let length, length > 0 else { return nil }
      return WaitingBytes(session: session, reason: reason, bytes: length)
    }
  }

  /// Whether nothing requires the store.
  var isIdle: Bool { items.isEmpty && superseded.isEmpty }

  /// Log bytes still to be sent.
  package var unsent: ByteCount { items.reduce(0) { $0 + $1.unsent } }

  /// Number of sessions sent again because they were recorded under another device id, by that id.
  package var formerDevices: [String: Int] {
    items.reduce(into: [:]) { counts, item in item.formerDevice.map { counts[$0, default: 0] += 1 }
    }
  }
}

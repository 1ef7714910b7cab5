package import ObjectStore
package import Platform
import Replica
package import SessionLog

/// What one pass means to do, found by looking at this machine alone.
package struct UploadPlan: Sendable {
  /// One session with something to do.
  package struct Item: Sendable {
    /// The session.
    package let session: SessionID
    /// Whether it reads a foreign file.
    package let isAttached: Bool
    /// Length of the local log in bytes.
    package let length: StreamOffset
    /// Bytes known to be there; nil when the remote has to be asked first.
    package let sent: StreamOffset?
    /// Up to where what has been sent may be followed; nil where that has to be looked up then.
    let sendableEnd: StreamOffset?
    /// Why it may not be followed further; nil where it may, or that has to be looked up then.
    let rest: WaitReason?
    /// How the session ended; nil while it goes on.
    package let verdict: Verdict?
    /// Whether its log leaves, or its sidecar alone.
    package let consent: Consent
    /// The device that it was recorded as where that is another one: it is sent anew; nil once that
    /// has begun.
    package let formerDevice: String?

    /// Log bytes still to be sent, as far as is known without asking.
    package var unsent: ByteCount { consent == .logs ? max(0, length - (sent ?? .zero)) : 0 }

    /// Whether little is to be sent: a tick, or a small log as a whole.
    ///
    /// The seal may send all again.
    var isSmall: Bool { (verdict == nil ? unsent : length.byteCount) <= 64 << 10 }
  }

  /// A session that is left alone in this pass.
  package struct Held: Sendable {
    /// The session.
    package let session: SessionID
    /// Why.
    package let why: WaitReason

    /// Why, for a person.
    package var reason: String { why.text }
    /// What that means.
    package var kind: WaitReason.Kind { why.kind }
  }

  /// Sessions to work on, those that failed least first.
  package var items: [Item] = []
  /// Sealed sessions with objects that their seal has made superfluous.
  package var remains: [SessionID] = []
  /// Sessions left alone with a reason; those with nothing new are not mentioned.
  package var held: [Held] = []

  /// Log bytes that have not been sent, each with its reason; sessions without any are not mentioned
  /// unless they are left alone.
  package var waiting: [WaitingBytes] = []
  /// Log bytes of sessions that are not sealed that were sent, and whose objects the store has not
  /// proven yet.
  package var unproven: ByteCount = 0

  /// Why the store is left alone for now: what it failed with in the last pass; nil when it is not.
  package var hold: StoreError?

  /// Lets what would be sent wait for another reason.
  mutating func wait(for reason: WaitReason) {
    waiting = waiting.map {
      $0.reason == .turn
        ? WaitingBytes(session: $0.session, reason: reason, bytes: $0.bytes) : $0
    }
  }

  /// Log bytes that have not been sent, for whatever reason.
  package var waitingBytes: ByteCount { waiting.reduce(0) { $0 + $1.bytes } }

  /// What waits in a home that sends nothing, where nothing is known of what was sent.
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

  /// Whether there is nothing to ask the store for.
  var isIdle: Bool { items.isEmpty && remains.isEmpty }

  /// Log bytes still to be sent.
  package var unsent: ByteCount { items.reduce(0) { $0 + $1.unsent } }

  /// How many sessions are sent anew because they were recorded under another device id, by that.
  package var formerDevices: [String: Int] {
    items.reduce(into: [:]) { counts, item in item.formerDevice.map { counts[$0, default: 0] += 1 }
    }
  }
}

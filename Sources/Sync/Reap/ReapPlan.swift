package import Platform
import Replica
package import SessionLog

/// What retention means to delete, and why; a value that can be printed and tested.
package struct ReapPlan: Sendable, Equatable {
  /// A copy of a session, or objects of it, to be deleted.
  package struct Removal: Sendable, Equatable {
    /// The session.
    package let session: SessionID
    /// Keys of objects to delete, in order; empty for the local copy.
    package let keys: [String]
    /// Bytes that it takes; nil where that is not known.
    package let bytes: ByteCount?
    /// The proof that it may go.
    package let evidence: Evidence
    /// Why it goes now beyond what the evidence says, for a person; may be empty.
    package let reason: String
    /// Why it goes, with the evidence, for a person.
    package var explanation: String {
      reason.isEmpty ? evidence.finding : "\(reason); \(evidence.finding)"
    }

    /// Whether it goes before its time, for the room that it takes.
    let makesRoom: Bool

    /// A local copy.
    init(
      _ session: SessionID, bytes: ByteCount?, evidence: Evidence, reason: String,
      makesRoom: Bool = false
    ) {
      (self.session, keys, self.bytes) = (session, [], bytes)
      (self.evidence, self.reason, self.makesRoom) = (evidence, reason, makesRoom)
    }

    /// Objects of a remote session; all of them where none are named.
    init(_ remote: RemoteSession, keys: [String]? = nil, evidence: Evidence, reason: String) {
      (session, self.keys) = (remote.session, keys ?? remote.keys)
      bytes = keys == nil ? remote.storedBytes : nil
      (self.evidence, self.reason, makesRoom) = (evidence, reason, false)
    }
  }

  /// A session that was looked at and stays.
  package struct Kept: Sendable, Equatable {
    /// The session.
    package let session: SessionID
    /// Why, for a person.
    package let reason: String
  }

  /// Why what is old enough is not deleted at present.
  package struct Postponement: Sendable, Equatable {
    /// What it would delete, and why it waits, for a person.
    package let reason: String
    /// Whether it was put off by this look, and not by an earlier one.
    package let isNew: Bool
  }

  /// Local sessions to remove.
  package var local: [Removal] = []
  /// Remote sessions to remove.
  package var remote: [Removal] = []
  /// Objects of kept remote sessions that nothing needs.
  package var superseded: [Removal] = []
  /// Sessions looked at and kept.
  package var kept: [Kept] = []
  /// Sessions whose last copy, in the store, expires soon, where ``Retention/warnBefore`` asks for them.
  package var expiring: [SessionID] = []
  /// Ended local sessions of unknown age, which counts from now on.
  package var undated: [SessionID] = []
  /// Why what is old enough stays for now, among what is kept; nil when it does not.
  package var postponement: Postponement?

  /// Nothing to do.
  package init() {}

  mutating func keep(_ remote: RemoteSession, _ reason: String) {
    kept.append(.init(session: remote.session, reason: reason))
  }

  /// Nothing would be deleted.
  package var isEmpty: Bool { local.isEmpty && remote.isEmpty && superseded.isEmpty }
}

/// The guard against plans that remove most of what is there at once: what a wrong clock, or a wrong
/// age, makes.
struct BoldPlan {
  /// Sessions that go.
  let count: Int
  /// Sessions that are there.
  let total: Int
  /// Which copies they are, for a person: `local`, `remote`.
  let side: String

  /// A plan for fewer sessions is never bold.
  static let smallestTotal = 20

  /// Whether more than half of many sessions go.
  var isBold: Bool { count * 2 > total && total >= Self.smallestTotal }

  /// Why the plan has to wait; nil when it has not, or no longer.
  ///
  /// - Parameters:
  ///   - clock: the home's lived time, which remembers since when it waits.
  ///   - key: tells this side from others there.
  ///   - retention: an age that a person named makes the plan wait for a word, not for a day.
  func postponement(
    _ clock: LivedClock, _ key: String, _ retention: Retention
  ) -> ReapPlan.Postponement? {
    let what = "would delete \(count) of \(total) \(side) sessions at once"
    // Whoever names an age, or has no lived time to go by, would wait in vain.
    if retention.asked != nil || retention.trustsServerClock {
      guard isBold, !retention.isForced else { return nil }
      return .init(reason: "\(what): refused", isNew: true)
    }
    let (pause, isNew) = clock.pause(ofBoldPlan: isBold && !retention.isForced, on: key)
    guard pause > .zero else { return nil }
    return .init(
      reason: "\(what): put off until this home has run for another \(Age.text(pause))",
      isNew: isNew)
  }
}

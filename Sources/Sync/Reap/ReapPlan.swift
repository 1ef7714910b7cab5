package import Platform
import Replica
package import SessionLog

/// The deletions that retention requires, with the reasons; a value that can be printed and tested.
package struct ReapPlan: Sendable, Equatable {
  /// A session's copy, or objects of it, to be deleted.
  package struct Removal: Sendable, Equatable {
    /// The session.
    package let session: SessionID
    /// Keys of objects to delete, in order; empty for the local copy.
    package let keys: [String]
    /// Size in bytes; nil if unknown.
    package let bytes: ByteCount?
    /// The proof that it may be deleted.
    package let evidence: Evidence
    /// Additional reason to delete it now, for a person; may be empty.
    package let reason: String
    /// The evidence and the reason, for a person.
    package var explanation: String {
      reason.isEmpty ? evidence.finding : "\(reason); \(evidence.finding)"
    }

    /// Whether it is deleted before its age, to free space.
    let makesRoom: Bool
    /// Whether only the log is deleted, the unpacked copy of a compressed file that is still there: the
    /// sidecar stays, by which the file is known.
    let keepsSidecar: Bool
    /// The remote session in the listing that the plan is from; nil for the local copy.
    let seen: RemoteSession?

    /// A local copy.
    init(
      _ session: SessionID, bytes: ByteCount?, evidence: Evidence, reason: String,
      makesRoom: Bool = false, keepsSidecar: Bool = false
    ) {
      self.keepsSidecar = keepsSidecar
      (self.session, keys, self.bytes) = (session, [], bytes)
      (self.evidence, self.reason, self.makesRoom) = (evidence, reason, makesRoom)
      seen = nil
    }

    /// Objects of a remote session; all of them if none are named.
    init(_ remote: RemoteSession, keys: [String]? = nil, evidence: Evidence, reason: String) {
      (session, self.keys) = (remote.session, keys ?? remote.keys)
      bytes = keys == nil ? remote.storedBytes : nil
      (self.evidence, self.reason, makesRoom, keepsSidecar) = (evidence, reason, false, false)
      seen = remote
    }
  }

  /// A session that was examined and stays.
  package struct Kept: Sendable, Equatable {
    /// The session.
    package let session: SessionID
    /// The reason, for a person.
    package let reason: String
  }

  /// Why sessions that are old enough are not deleted yet.
  package struct Postponement: Sendable, Equatable {
    /// Number of sessions that would be deleted and why that waits, as a message.
    package let reason: String
    /// Whether this plan postponed it, rather than an earlier one.
    package let isNew: Bool
  }

  /// Local sessions to remove.
  package var local: [Removal] = []
  /// Sessions in the trash that may go, each with the proof that it is not the last copy or was not
  /// to have another.
  var trash: [SessionID: Evidence] = [:]
  /// Remote sessions to remove.
  package var remote: [Removal] = []
  /// Superseded objects of kept remote sessions.
  package var superseded: [Removal] = []
  /// Sessions examined and kept.
  package var kept: [Kept] = []
  /// Sessions whose last copy, in the store, expires soon; filled if ``Retention/warnBefore`` is
  /// set.
  package var expiring: [SessionID] = []
  /// Local sessions whose seal, or an object that it names, a listing lacks; and remote ones that are
  /// not local and lack the seal or bytes, whoever sealed them.
  package var withoutCopy: Set<SessionID> = []
  /// Ended local sessions of unknown age, whose age starts now.
  package var undated: [SessionID] = []
  /// Why sessions in ``kept`` that are old enough stay for now; nil if none do.
  package var postponement: Postponement?

  /// An empty plan.
  package init() {}

  mutating func keep(_ remote: RemoteSession, _ reason: String) {
    kept.append(.init(session: remote.session, reason: reason))
  }

  /// Whether nothing would be deleted.
  package var isEmpty: Bool { local.isEmpty && remote.isEmpty && superseded.isEmpty }
}

/// Guards against a plan that deletes most sessions at once, as a wrong clock or a wrong age would
/// make it.
struct BoldPlan {
  /// Number of sessions to delete.
  let count: Int
  /// Number of sessions in total.
  let total: Int
  /// The copies concerned, for a person: `local`, `remote`.
  let side: String

  /// The smallest total that can make a plan bold.
  static let smallestTotal = 20

  /// Whether more than half of many sessions go.
  var isBold: Bool { count * 2 > total && total >= Self.smallestTotal }

  /// Why the plan has to wait; nil if it need not, or no longer.
  ///
  /// - Parameters:
  ///   - clock: the home's lived time, which remembers since when the plan waits.
  ///   - key: distinguishes this side from others in `clock`.
  ///   - retention: with an age that a person named, the plan waits for a confirmation instead of a
  ///     day.
  func postponement(
    _ clock: LivedClock, _ key: String, _ retention: Retention
  ) -> ReapPlan.Postponement? {
    let what = "would delete \(count) of \(total) \(side) sessions at once"
    // Waiting is no use if a person named an age, or there is no lived time to measure by.
    if retention.asked != nil || retention.trustsServerClock {
      guard isBold, !retention.isForced else { return nil }
      return .init(reason: "\(what): refused", isNew: true)
    }
    let isDoubtful = isBold || count > 0 && clock.time.isFreshlyCredited
    let (pause, isNew) = clock.pause(ofBoldPlan: isDoubtful && !retention.isForced, on: key)
    guard pause > .zero else { return nil }
    return .init(
      reason: "\(what): put off until this home has run for another \(Age.text(pause))",
      isNew: isNew)
  }
}

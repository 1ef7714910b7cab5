import Platform
import Replica
package import SessionLog

/// Proof that bytes of a log may be deleted.
///
/// Only the functions in this file create one, from the findings of the proving code. ``Deleter``
/// requires one for each deletion, and writes it to the ledger.
package struct Evidence: Sendable, Equatable {
  /// The kind of proof.
  package let ground: DeletionGround
  /// The finding, on one line for a person.
  package let finding: String
  /// Segments of earlier generations that the proof includes; nil if there are none.
  let basis: [String]?

  fileprivate init(_ ground: DeletionGround, _ finding: String, basis: [String]? = nil) {
    (self.ground, self.finding, self.basis) = (ground, finding, basis)
  }

  /// The evidence for a series of similar deletions that begins with this one.
  func through(_ last: Evidence) -> Evidence {
    Evidence(ground, "\(finding), and so on, up to: \(last.finding)")
  }
}

/// A reason to keep bytes: the proof that they may be deleted is missing.
struct Doubt: Error {
  /// The reason, on one line for a person.
  let reason: String
  /// Whether a listing lacks the session's seal, or an object that it names.
  let isCopyGone: Bool

  init(_ reason: String, isCopyGone: Bool = false) {
    (self.reason, self.isCopyGone) = (reason, isCopyGone)
  }
}

// MARK: Proven

/// A claim by a home's own seal about the store's copy, not yet confirmed by the store.
struct SealClaim {
  private let sidecar: Sidecar
  private let seal: Sidecar.Seal
  /// Whether the log is as it was when it was compared, by length and time; its rotated parts aside.
  private let isUntouched: Bool
  /// Whether the log ends before the sealed stream.
  private let isCut: Bool

  /// Minimum lived time between a seal and the deletion of the local copy.
  static let pause = Duration.hours(1)

  /// Lived time between a seal and the beginning of this pass; zero if it was not counted.
  static func age(of sidecar: Sidecar, _ lived: LivedClock) -> Duration {
    let age = sidecar.seal.flatMap { lived.age(of: sidecar, since: $0.sealedAt) } ?? .zero
    return age - (lived.time.age(since: lived.begun) ?? .zero)
  }

  /// Reads the claim from a local sidecar.
  ///
  /// - Parameters:
  ///   - sidecar: the local sidecar.
  ///   - age: lived time between the seal and the beginning of this pass; nil if irrelevant, for
  ///     example because a person named the age.
  ///   - log: the local log; nil if it is gone.
  ///   - store: the configured store.
  init(
    _ sidecar: Sidecar, sealedFor age: Duration?, log: Sidecar.Seal.LogState?, store: String
  ) throws(Doubt) {
    guard let seal = sidecar.seal else { throw Doubt("it is not sealed yet") }
    guard age ?? .hours(1) >= Self.pause else {
      throw Doubt("it was sealed less than an hour before this pass")
    }
    guard seal.store == store else {
      throw Doubt("it was sent to \(seal.store), not to the configured store")
    }
    try self.init(sidecar, seal, log: log)
  }

  /// Reads the claim of a session whose remote copy was removed: only its log may still contradict
  /// it.
  ///
  /// - Parameters:
  ///   - sidecar: the local sidecar.
  ///   - log: the local log; nil if it is gone.
  init(removed sidecar: Sidecar, log: Sidecar.Seal.LogState?) throws(Doubt) {
    guard let seal = sidecar.seal else { throw Doubt("it is not sealed") }
    // What is left of a log that was cut after it was sent may have been in the store.
    try self.init(sidecar, seal, log: log, mayBeCut: true)
  }

  private init(
    _ sidecar: Sidecar, _ seal: Sidecar.Seal, log: Sidecar.Seal.LogState?, mayBeCut: Bool = false
  ) throws(Doubt) {
    guard log == nil || seal.logDiffers != true else {
      throw Doubt("its \(Sidecar.Seal.changedLogText)")
    }
    isUntouched = log == nil || log == seal.log
    isCut = mayBeCut && log.map { $0.length < seal.length } ?? false
    if !isUntouched, !isCut, let log, log.length != seal.length {
      throw Doubt("its log has \(log.length) bytes, not the \(seal.length) that were sealed")
    }
    (self.sidecar, self.seal) = (sidecar, seal)
  }

  /// Whether a rotated part changed after the log was compared, by its time.
  func isTouched(_ part: FileStatus) -> Bool {
    seal.log.map { part.modifiedAt > $0.modified } ?? true
  }

  /// Compares a log that was touched since it was sealed with the sealed stream.
  ///
  /// - Parameters:
  ///   - hasTouchedPart: whether one of its rotated parts was.
  ///   - log: opens the local log as it is sent.
  func check(hasTouchedPart: Bool, _ log: (Sidecar) throws -> LocalStream?) throws {
    guard !isUntouched || hasTouchedPart, let log = try log(sidecar) else { return }
    let local = try log.available()
    for name in (sidecar.objects ?? []).compactMap(SegmentName.init)
    where local.lowerBound <= name.range.lowerBound
      && !(isCut && local.upperBound <= name.range.lowerBound)
    {
      guard !isCut || name.range.upperBound <= local.upperBound else {
        throw Doubt(
          "its log was cut after it was sealed, and its bytes from \(name.range.lowerBound) on cannot be "
            + "compared with what was sent; 'tidemark delete --local \(session)' deletes it")
      }
      let end = min(name.range.upperBound, seal.length)
      guard end == name.range.upperBound, try name.matches(log) else {
        throw Doubt(
          "its log was changed after it was sealed, between bytes \(name.range.lowerBound) and \(end)"
        )
      }
    }
  }

  /// The session.
  var session: SessionID { sidecar.sessionId }

  /// The length of the sealed stream.
  var length: StreamOffset { seal.length }

  /// The folder of the objects.
  var folder: SessionFolder {
    SessionFolder(device: sidecar.deviceId, session: sidecar.sessionId)
  }

  /// Compares the claim with a listing.
  ///
  /// - Parameter remote: the session in a listing of this pass.
  /// - Returns: the name of the seal, which is to be read next.
  func check(_ remote: RemoteSession) throws(Doubt) -> RevisionName {
    guard let name = remote.seal, name.fileName == seal.revision else {
      throw Doubt(
        "its seal is not there any more",
        isCopyGone: !remote.revisions.contains { $0.fileName == seal.revision })
    }
    guard remote.holds(sidecar.objects ?? [], length: seal.length),
      remote.holds(sidecar.basis ?? [])
    else {
      let session = sidecar.sessionId
      throw Doubt(
        "its remote copy is not whole; 'tidemark verify --repair \(session)' mends it",
        isCopyGone: true)
    }
    return name
  }

  /// The evidence, once the store has confirmed the claim.
  ///
  /// - Parameters:
  ///   - remote: the session in a listing of this pass.
  ///   - read: the seal, as this pass read it from the store.
  func confirmed(by remote: RemoteSession, _ read: Sidecar) throws(Doubt) -> Evidence {
    let name = try check(remote)
    guard read.objects == sidecar.objects, read.basis == sidecar.basis,
      read.digest == sidecar.digest
    else { throw Doubt("its seal in the store says something else than this home's") }
    let objects = (sidecar.objects ?? []).count + (sidecar.basis ?? []).count
    return Evidence(
      .proven,
      "\(seal.store) lists \(name.fileName) and the \(Plural.text(objects, "object")) that it names",
      basis: sidecar.basis)
  }
}

extension Evidence {
  /// Evidence for a rotated part whose bytes are in segments.
  ///
  /// - Parameters:
  ///   - range: the part's stream bytes.
  ///   - segments: the segments, in order.
  static func proven(
    _ range: Range<StreamOffset>, by segments: [ProvenSegment]
  ) throws(Doubt) -> Evidence {
    let segments = segments.map(\.name)
    var end = range.lowerBound
    for segment in segments {
      guard segment.range.lowerBound <= end else { break }
      end = max(end, segment.range.upperBound)
    }
    guard end >= range.upperBound, let first = segments.first, let last = segments.last else {
      throw Doubt("the store does not have it from byte \(end) on")
    }
    return Evidence(
      .proven,
      "bytes \(range.lowerBound) to \(range.upperBound) are in \(first.fileName)"
        + (first == last ? "" : " to \(last.fileName)"))
  }
}

// MARK: Replaced

extension Evidence {
  /// Evidence for a sealed session's objects that its seal supersedes.
  ///
  /// - Parameters:
  ///   - remote: the session in a listing of this pass.
  ///   - own: the sidecar of the home that put the seal.
  ///   - put: names of the objects that this home is known to have put.
  /// - Returns: their keys, with the evidence if there are any; and segments that only appear
  ///   superseded.
  static func replaced(
    in remote: RemoteSession, by own: Sidecar, put: Set<String>
  ) -> (keys: [String], evidence: Evidence?, surplus: [SegmentName]) {
    // A metadata-only seal names objects that were sent without proof.
    let (keys, surplus) = remote.superseded(by: own, put: own.withholdsLog ? [] : put)
    guard let seal = remote.seal, !keys.isEmpty else { return ([], nil, surplus) }
    let text = "\(seal.fileName) and what it names are listed, and stand for these \(keys.count)"
    return (keys, Evidence(.replaced, text), surplus)
  }

  /// Evidence for a segment of an open session whose bytes a larger one has.
  ///
  /// - Parameters:
  ///   - segment: a name that this home put, according to its manifest.
  ///   - larger: a listed segment with proven content.
  static func replaced(
    _ segment: SegmentName, by larger: SegmentName, isProven: Bool
  ) throws(Doubt) -> Evidence {
    guard larger.holds(segment), larger != segment else {
      throw Doubt("\(larger.fileName) lacks bytes of \(segment.fileName)")
    }
    guard isProven else { throw Doubt("the content of \(larger.fileName) is not proven") }
    return Evidence(.replaced, "\(larger.fileName) has the bytes of \(segment.fileName)")
  }
}

// MARK: Expired

extension Evidence {
  /// A reason why a local copy's age alone suffices.
  enum Absence: String {
    /// This home sends nothing, and never did.
    case unsent = "this home sends its sessions nowhere"
    /// Consent keeps the log on this machine.
    case withheld = "its log was not to be sent"
    /// The remote copy was deleted on purpose.
    case removed = "its remote copy was removed"
  }

  /// Evidence for a local copy that has no remote one on purpose.
  ///
  /// - Parameters:
  ///   - age: lived time since its end.
  ///   - limit: the retention.
  static func expired(
    locally reason: Absence, age: Duration, limit: Duration
  ) throws(Doubt) -> Evidence {
    guard age >= limit else { throw Doubt("it is \(Age.text(age)) old") }
    return Evidence(.expired, "\(reason.rawValue), and it is \(Age.text(age)) old")
  }

  /// Evidence for a local copy that has no remote one on purpose and is deleted to free space.
  ///
  /// - Parameter limit: the maximum size of all local sessions, in bytes.
  static func expired(
    locally reason: Absence, toMakeRoom limit: ByteCount
  ) throws(Doubt) -> Evidence {
    guard reason != .withheld else { throw Doubt("its log was not sent") }
    return Evidence(.expired, "\(reason.rawValue), and local sessions take over \(limit.text)")
  }

  /// Evidence for a copy in the trash that has no remote one, because it was not to have one or
  /// because that expired.
  static func expired(inTrash reason: Absence) -> Evidence { Evidence(.expired, reason.rawValue) }

  /// This evidence for a copy in the trash.
  ///
  /// - Parameter reason: why it is deleted from there now, for a person.
  func whereTrashed(_ reason: String) -> Evidence {
    Evidence(.expired, "\(reason); \(finding)", basis: basis)
  }

  /// Evidence for a remote session.
  ///
  /// - Parameters:
  ///   - age: age of its newest object, by the server's clock and by lived time.
  ///   - limit: the retention.
  ///   - text: the age for a person.
  ///   - isOpen: whether a home of this machine has it open.
  static func expired(
    remotely age: Duration, limit: Duration, _ text: String, isOpen: Bool
  ) throws(Doubt) -> Evidence {
    guard age >= limit else { throw Doubt(text) }
    guard !isOpen else { throw Doubt("it is still open on this device") }
    return Evidence(.expired, text)
  }
}

// MARK: Asked

extension Evidence {
  /// Evidence for a deletion at a person's request.
  ///
  /// - Parameter command: the requesting command.
  package static func asked(by command: String) -> Evidence { Evidence(.asked, command) }
}

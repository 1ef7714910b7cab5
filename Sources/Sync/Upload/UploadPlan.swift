package import ObjectStore
package import Platform
import Logging
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
    /// Why, for a person.
    package let reason: String
    /// What that means.
    package let kind: Kind

    /// What it means that a session is left alone.
    package enum Kind: Sendable {
      /// Nothing: it is not for this device to send, or not yet.
      case idle
      /// A failure that is likely to go away by itself.
      case passing
      /// Somebody has to do something about it.
      case problem
    }
  }

  /// Sessions to work on, those that failed least first.
  package var items: [Item] = []
  /// Sealed sessions with objects that their seal has made superfluous.
  package var remains: [SessionID] = []
  /// Sessions left alone with a reason; those with nothing new are not mentioned.
  package var held: [Held] = []

  /// Why the store is left alone for now: what it failed with in the last pass; nil when it is not.
  package var hold: StoreError?

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

/// Makes the plan of a pass: reads `open/`, sidecars, locks and lengths, and changes nothing but
/// what an earlier pass left behind half done.
struct UploadPlanner {
  let context: SyncContext
  /// Who is looked at in spite of a pause after a failure.
  let turn: Turn

  /// How long a marker may stand without its log: a recorder makes the marker first.
  private static let markerGrace = Duration.hours(1)

  func plan() throws -> UploadPlan {
    var plan = UploadPlan()
    plan.remains = try context.manifest.remains(due: context.now())
    var attempts: [SessionID: Int] = [:]
    let log = PlanLog(logger: context.logger)
    for session in try context.home.openSessions() {
      do {
        let entry = try context.manifest.entry(session)
        attempts[session] = entry?.attempts ?? 0
        switch try examine(session, entry) {
        case .item(let item, let rest):
          log.item(item, rest: rest)
          plan.items.append(item)
        case .held(let held): plan.held.append(held)
        case .nothing(let reason): log.waits(session, reason)
        }
      } catch let error as SystemError {
        plan.held.append(
          .init(session: session, reason: error.description, kind: .problem))
      }
    }
    for held in plan.held { log.skips(held) }
    plan.items.sort {
      (attempts[$0.session] ?? 0, $0.session) < (attempts[$1.session] ?? 0, $1.session)
    }
    return plan
  }

  private enum Finding {
    case item(UploadPlan.Item, rest: WaitReason?)
    case held(UploadPlan.Held)
    case nothing(WaitReason)
  }

  private func examine(_ session: SessionID, _ entry: ManifestEntry?) throws -> Finding {
    let local = LocalSession(context.home, session)
    let (sidecar, _, formerDevice) = try local.sidecarAsFound(device: context.device)
    guard let log = try local.openLog(sidecar.source) else {
      return try examineWithoutLog(local, sidecar)
    }
    if sidecar.seal != nil {
      try local.settle(context)
      return .nothing(.sealed)
    }
    if let entry, let pause = pause(after: entry) {
      return .held(
        .init(session: session, reason: pause, kind: entry.isPassing ? .passing : .problem))
    }

    let (length, modified) = try log.status()
    let verdict = try local.verdict(sidecar, context: context, modified: modified)
    let wanted = try local.generation(sidecar)
    let known = entry.flatMap { $0.isDirty || $0.generation != wanted ? nil : $0 }
    let consent = try local.consent(
      sidecar, hasEnded: verdict != nil, configured: context.consent)
    var sendableEnd: StreamOffset?
    var rest: WaitReason?
    if verdict == nil, consent == .metadata {
      // Until it ends there is nothing more to say of it.
      if let entry, entry.revision > 0, try local.sentNote()?.consent == .metadata {
        if sidecar.source != nil { try local.removeMarker() }
        return .nothing(.consent)
      }
    } else if verdict == nil, let sent = known?.sent, try local.saidConsent(sidecar) == .logs {
      let end: StreamOffset
      (end, rest) = try local.sendableEnd(
        of: log, length: length, sent: sent, modified: modified, format: sidecar.format,
        context: context)
      // A recorded log that has become shorter lost what was sent.
      if end == sent, length >= sent || sidecar.source != nil {
        // The attacher tells when a foreign file has grown: until then nobody has to look at it.
        if sidecar.source != nil, sent == length { try local.removeMarker() }
        return .nothing(rest ?? .nothingNew)
      }
      sendableEnd = end
    }
    return .item(
      .init(
        session: session, isAttached: sidecar.source != nil, length: length, sent: known?.sent,
        sendableEnd: sendableEnd, verdict: verdict, consent: consent,
        formerDevice: entry?.hasBegun == true ? nil : formerDevice), rest: rest)
  }

  /// Why it is too early to try a session again; nil when it is not.
  private func pause(after entry: ManifestEntry) -> String? {
    let backoff = entry.isPassing ? Backoff.passing : .refused
    let waits = entry.isPassing ? turn == .due : turn != .all
    guard waits, let next = entry.nextAttempt, backoff.isTooEarly(next, at: context.now()) else {
      return nil
    }
    return "tried again after \(next): \(entry.lastError ?? "an earlier failure")"
  }

  private func examineWithoutLog(_ local: LocalSession, _ sidecar: Sidecar) throws -> Finding {
    if let source = sidecar.source {
      if sidecar.seal != nil {
        try local.settle(context)
        return .nothing(.sealed)
      }
      return .held(
        .init(
          session: local.session, reason: "its file \(source.path) is not there at present",
          kind: .idle))
    }
    guard let age = try local.markerAge(now: context.now()), age > Self.markerGrace else {
      return .nothing(.starting)
    }
    try local.removeMarker()
    guard local.hasSidecar else { return .nothing(.deleted) }
    return .held(
      .init(
        session: local.session, reason: "its log \(local.files.log) is gone", kind: .problem))
  }
}

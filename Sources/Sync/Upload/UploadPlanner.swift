import ObjectStore
import Platform
import Replica
import SessionLog

/// Plans a pass: reads each open session's state, and changes nothing.
struct UploadPlanner {
  let context: SyncContext
  /// Which sessions ignore retry backoff.
  let scope: RetryScope

  /// How long a marker may exist without its log: a recorder creates the marker first.
  private static let markerGrace = Duration.hours(1)

  func plan() throws -> UploadPlan {
    var plan = UploadPlan()
    plan.superseded = try context.manifest.superseded(due: context.now())
    var attempts: [SessionID: Int] = [:]
    let log = PlanLog(logger: context.logger)
    for session in try context.home.openSessions() {
      do {
        let state = try examine(session, &plan)
        attempts[session] = state.entry.attempts
        if case .wait(let reason) = UploadStep.next(state) {
          add(reason, state, to: &plan)
          if !Self.isSkipped(reason) { log.waits(session, reason) }
        } else {
          let item = UploadPlan.Item(state)
          log.item(item)
          plan.add(item, state)
        }
      } catch let error as ReplicaError where error.code == .localLogChanged {
        // Truncated just now; what its rotation made of it is found before the next upload.
        plan.waiting.append(WaitingBytes(session: session, reason: .nextUpload, bytes: 0))
      } catch let error as SystemError {
        let reason = WaitReason.unreadable(error.description)
        plan.skipped.append(.init(session: session, why: reason))
        plan.waiting.append(WaitingBytes(session: session, reason: reason, bytes: 0))
      }
    }
    for held in plan.skipped { log.waits(held.session, held.why) }
    // Who has little to send does not wait for those who have much.
    plan.items.sort {
      (attempts[$0.session] ?? 0, $0.unsent, $0.session)
        < (attempts[$1.session] ?? 0, $1.unsent, $1.session)
    }
    return plan
  }

  private func add(_ reason: WaitReason, _ state: SessionState, to plan: inout UploadPlan) {
    if Self.isSkipped(reason) { plan.skipped.append(.init(session: state.session, why: reason)) }
    plan.addWaiting(reason, state)
  }

  /// Whether a waiting session counts as skipped; if not, it has nothing to send.
  private static func isSkipped(_ reason: WaitReason) -> Bool {
    switch reason {
    case .backoff, .refused, .fileAbsent, .logGone, .withdrawn, .consentUnknown: true
    default: false
    }
  }

  /// Reads a session's state, and determines whether anything of it is to be sent.
  private func examine(_ session: SessionID, _ plan: inout UploadPlan) throws -> SessionState {
    var state = try SessionState.load(session, context)
    state.wait = try waitReason(state, &plan)
    guard state.wait == nil else { return state }
    if !state.isAttached, state.modified > context.now() { plan.ahead.append(session) }
    do {
      let lock = try FileLock.tryExclusive(state.local.files.lock)
      try state.judge(context, holding: lock)
    }
    guard state.verdict == nil else { return state }
    if state.log == nil { state.wait = .logGone(state.local.files.log) }
    guard state.wait == nil else { return state }
    let found = state.consent == state.saidConsent ? nil : state.consent
    if found != state.uploadState.found { plan.found.updateValue(found, forKey: session) }
    if state.consent == .metadata {
      // Until it ends there is nothing to add, except a daily check of the store.
      if state.entry.revision > 0, !state.entry.isDirty, state.uploadState.consent == .metadata {
        if state.isAttached { plan.finished[session] = .visits }
        state.wait = .consent
      }
    } else if let sent = state.sent, state.saidConsent == .logs {
      try state.measure(context)
      // A recorded log that became shorter has lost sent bytes.
      if state.end == sent, state.length >= sent || state.isAttached {
        // The attacher notices when a foreign file has grown: until then passes need not visit it.
        if state.isAttached, sent == state.length { plan.finished[session] = .visits }
        state.wait = state.rest ?? .nothingNew
      }
    }
    return state
  }

  /// The reason for which a session waits as a whole; nil if it does not.
  private func waitReason(_ state: SessionState, _ plan: inout UploadPlan) throws -> WaitReason? {
    // One that appeared after root claimed the home's sessions.
    if try context.ownership?.isClaimed(state.session) == false { return .nextUpload }
    guard state.log != nil || state.canEndWithoutLog else { return try withoutLog(state, &plan) }
    if state.sidecar.seal != nil {
      plan.finished[state.session] = .seal
      return .sealed
    }
    return state.uploadState.withdrawnAt == nil ? pause(of: state) : .withdrawn
  }

  private func withoutLog(_ state: SessionState, _ plan: inout UploadPlan) throws -> WaitReason {
    if state.sidecar.seal != nil {
      plan.finished[state.session] = .seal
      return .sealed
    }
    if let source = state.sidecar.source { return .fileAbsent(source.path) }
    // One that cannot be read says at least that there was a session.
    guard !state.local.hasSidecar else { return .logGone(state.local.files.log) }
    guard let age = try state.local.markerAge(now: context.now()), age > Self.markerGrace else {
      return .starting
    }
    plan.finished[state.session] = .visits
    return .deleted
  }

  /// Why it is too early to try a session again; nil if it is not.
  ///
  /// One that has ended since the last attempt is tried at once.
  private func pause(of state: SessionState) -> WaitReason? {
    let entry = state.entry
    let backoff = entry.isTransient ? Backoff.transient : .refused
    let waits = entry.isTransient ? scope == .due : scope != .all
    guard waits, let next = entry.nextAttempt, backoff.isTooEarly(next, at: context.now()) else {
      return nil
    }
    if let end = state.sidecar.endedAt, state.sidecar.status != .active, !state.isAttached,
      end > backoff.last(before: next, after: entry.attempts)
    {
      return nil
    }
    let text = "tried again after \(next): \(entry.lastError ?? "an earlier failure")"
    if entry.isTransient { return .backoff(text) }
    return state.lacksConsent(in: context.home) ? .consentUnknown(text) : .refused(text)
  }
}

extension UploadPlan {
  /// Adds a session with something to send.
  fileprivate mutating func add(_ item: Item, _ state: SessionState) {
    items.append(item)
    guard item.consent == .logs else { return addWaiting(.consent, state) }
    let rest = item.sendableEnd.map { state.length - $0 } ?? 0
    if let reason = item.rest, rest > 0 {
      waiting.append(WaitingBytes(session: item.session, reason: reason, bytes: rest))
    }
    let bytes = max(0, state.unsent - rest)
    if bytes > 0 {
      waiting.append(WaitingBytes(session: item.session, reason: .nextUpload, bytes: bytes))
    }
    unproven += state.unproven
  }

  /// Adds the bytes of a session that sends nothing.
  fileprivate mutating func addWaiting(_ reason: WaitReason, _ state: SessionState) {
    unproven += state.unproven
    let isLeftAlone = skipped.last?.session == state.session
    guard state.sidecar.seal == nil, state.unsent > 0 || isLeftAlone else { return }
    waiting.append(WaitingBytes(session: state.session, reason: reason, bytes: state.unsent))
  }
}

extension UploadPlan.Item {
  /// Describes a session with something to send.
  init(_ state: SessionState) {
    self.init(
      session: state.session, isAttached: state.isAttached, length: state.length, sent: state.sent,
      sendableEnd: state.verdict == nil && state.consent == .logs ? state.end : nil,
      remembered: state.isOfThisGeneration ? state.entry.sent : .zero, rest: state.rest,
      verdict: state.verdict, consent: state.consent,
      formerDevice: state.entry.hasBegun ? nil : state.formerDevice,
      lastFailure: state.entry.lastFailure)
  }
}

extension UploadCheckpoint {
  /// Why the last attempt failed; nil if it did not.
  fileprivate var lastFailure: WaitReason? {
    lastError.map { isTransient ? .backoff($0) : .refused($0) }
  }
}

extension SessionState {
  /// Log bytes not known to be in the store.
  fileprivate var unsent: ByteCount {
    guard isOfThisGeneration else { return length.byteCount }
    // What was sent after a hole of the log does not raise the mark.
    var (end, unsent) = (entry.sent, ByteCount.zero)
    let later = entry.segments.keys.filter { $0.generation == entry.generation }.map(\.range).filter
    { $0.upperBound > entry.sent }
    for range in later.sorted(by: { $0.lowerBound < $1.lowerBound }) {
      unsent += max(0, min(range.lowerBound, length) - end)
      end = max(end, range.upperBound)
    }
    return unsent + max(0, length - end)
  }

  /// Log bytes that were sent, but in objects with unproven content.
  fileprivate var unproven: ByteCount {
    guard sidecar.seal == nil else { return 0 }
    let names = entry.segments.filter { !$0.value && $0.key.generation == entry.generation }.keys
    return min(entry.sent.byteCount, names.reduce(0) { $0 + $1.length })
  }
}

import ObjectStore
import Platform
import Replica
import SessionLog

/// Sends the bytes that one session's remote copy lacks and, once the session has ended, seals it:
/// runs the steps that ``UploadStep/next(_:)`` names until there are no more.
struct SessionUpload {
  let item: UploadPlan.Item
  /// What the file of an attached session has to have, as far as that is known.
  let anchor: LocalStream.Anchor?
  let writer: RemoteWriter

  /// Describes the upload of a session.
  init(
    _ item: UploadPlan.Item, anchor: LocalStream.Anchor?, _ context: SyncContext,
    holding lock: HomeLock, lane: SegmentWorker, folders: FolderListings, budget: PassBudget,
    report: @escaping @Sendable (UploadEvent) -> Void
  ) {
    (self.item, self.anchor) = (item, anchor)
    writer = RemoteWriter(
      context: context, homeLock: lock, session: item.session, lane: lane, folders: folders,
      budget: budget, report: report)
  }

  var context: SyncContext { writer.context }
  var session: SessionID { writer.session }

  /// Runs the steps.
  ///
  /// - Throws: ``ReplicaError`` when the two copies contradict each other; store and system errors.
  func run() async throws {
    // Once we hold it, no process can write the session any more: its length is final.
    let lock =
      item.verdict == nil
      ? nil : try FileLock.tryExclusive(LocalSession(context.home, session).files.lock)
    defer { withExtendedLifetime(lock) {} }
    var state = try SessionState.load(session, context, holding: lock)
    if let anchor { state.log = state.log?.anchored(by: anchor) }
    if item.verdict != nil { try state.judge(context, holding: lock) }
    if item.verdict == nil { state.consent = context.consent }
    if state.consent == .logs {
      guard state.log != nil || state.verdict != nil && state.canEndWithoutLog else {
        throw state.missingLog
      }
      try state.openView(context)
    }
    state.isEntryTrusted = RemoteComparison(writer).trustsManifest(state)
    try await run(&state)
    if state.isCutShort, let rest = leftUnsent(state) {
      writer.report(.leftToNextPass(session: session, rest: rest))
    }
  }

  private func run(_ state: inout SessionState) async throws {
    while true {
      let limit = context.objectLimit.bytes
      let step = UploadStep.next(state)
      do {
        switch step {
        case .wait, .done: return
        default: try await perform(step, &state)
        }
        state.done.insert(step)
      } catch let error as StoreError where error.code == .tooLarge {
        // The same step then makes smaller objects.
        guard context.objectLimit.bytes < limit else { throw error }
      } catch let error as SystemError where error.isUnreadable {
        guard try state.leaveOutDamage(context) else { throw error }
      } catch let error as ReplicaError where error.code == .localLogChanged {
        if try await SentStream(writer).replaceLog(&state) { continue }
        guard state.did(.compare), !state.isRewritten, try state.isWholeFile() else { throw error }
        try state.beginNextGeneration()
        state.isRewritten = true
        (state.end, state.tally) = (nil, nil)
        state.done = [.compare]
      }
    }
  }

  private func perform(_ step: UploadStep, _ state: inout SessionState) async throws {
    switch step {
    case .wait, .done: break
    case .list: try await RemoteComparison(writer).list(&state)
    case .adoptSeal:
      if let remote = state.unknownSeal { try await SealAdoption(writer).adopt(remote, &state) }
    case .compare:
      try RemoteComparison(writer).compare(&state)
      try await FormerCopy(writer).bring(&state)
    case .bindRules: try await RuleBinding(writer).bind(&state)
    case .measure:
      try await writer.expectBasis(state)
      try measure(&state)
    case .announce: try await announce(&state)
    case .rewrite: try await GenerationSender(writer).send(&state)
    case .settleMasks: try await RuleBinding(writer).settle(&state)
    case .sendTail: try await TailSender(writer).send(&state)
    case .removeCovered: try await SegmentCover(writer).removeCovered(&state)
    case .cover: try await SegmentCover(writer).coverAll(&state)
    case .seal: try await Sealer(writer).seal(&state)
    case .metadata: try await MetadataSender(writer).send(&state)
    case .sealMetadata: try await MetadataSender(writer).seal(&state)
    case .rest: try rest(&state)
    }
  }

  private func measure(_ state: inout SessionState) throws {
    // An open session is saved from its first request on.
    if state.verdict == nil { state.entry.isKept = true }
    // The plan has determined the end already, unless the log turned out to be different.
    let planned = state.verdict == nil && !state.isRewritten ? item.sendableEnd : nil
    try state.measure(context, planned: planned)
  }

  /// Puts a sidecar revision of an open session: the first, which lists it from its first tick; one
  /// that withdraws a metadata-only consent; or one that shows that the session is still alive.
  private func announce(_ state: inout SessionState) async throws {
    try await writer.putRevision(&state)
    if state.saidConsent == .metadata { try state.record(.logs) }
    state.isQuiet = false
  }

  /// Saves the entry of an open session.
  private func rest(_ state: inout SessionState) throws {
    try writer.save(&state)
    // The attacher notices when a foreign file has grown or ended: until then passes need not visit
    // it.
    guard state.isAttached, !state.isCutShort else { return }
    if state.consent == .metadata || state.entry.sent == state.length {
      try state.local.removeMarker()
    }
  }

  /// Log bytes that this pass should have sent, and has not; nil if there are none.
  private func leftUnsent(_ state: SessionState) -> ByteCount? {
    guard let end = state.end else { return nil }
    let rest = state.isOfThisGeneration ? end - state.entry.sent : end.byteCount
    return rest > 0 ? rest : nil
  }
}

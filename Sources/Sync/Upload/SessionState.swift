import Delta
import Platform
import Replica
import SessionLog

/// Everything that a pass needs to decide about one session, read once.
///
/// A step that changes part of it changes the state and the file or row behind it together.
struct SessionState {
  /// The session's files in the home.
  let local: LocalSession
  /// The sidecar, or a substitute for a missing one.
  var sidecar: Sidecar
  /// Whether the sidecar is missing or cannot be read.
  var isSidecarDamaged = false
  /// The device id that it was recorded under, if another one.
  var formerDevice: String?
  /// The uploader's state of the session.
  var uploadState = UploadState()
  /// The manifest's entry; a new one, without a boot, if there is none.
  var entry = UploadCheckpoint(boot: "")
  /// The revision that this pass put last.
  var latest: RevisionName?
  /// Whether the manifest has a row for it.
  var isInManifest = false

  /// Damaged ranges of the local log, once a step has met one.
  var unreadable: [Range<StreamOffset>] = []
  /// The local log, after its last hole; nil if none of it is left.
  var log: LocalStream?
  /// The log as it is sent; nil until a step needs it.
  var view: LocalStream?
  /// Length of the log.
  var length = StreamOffset.zero
  /// When it last grew.
  var modified: Timestamp
  /// Whether the session's exclusive lock was free: no process was writing it.
  var isLockFree = false
  /// How the session ended; nil if it is open, or the end is unknown.
  var verdict: Verdict?
  /// Whether its log is sent, or its sidecar only.
  var consent = Consent.logs

  /// Why nothing of it is sent in this pass; nil if something is.
  var wait: WaitReason?
  /// The offset up to which the log is sent in this pass; nil until determined.
  var end: StreamOffset?
  /// Why it is not sent beyond ``end``.
  var rest: WaitReason?
  /// Whether the log has been idle for so long that it may be cut at its end.
  var isIdle = false
  /// Whether the entry may be used without a listing.
  var isEntryTrusted = false
  /// Whether the entry was read from a listing of this pass.
  var isEntryListed = false
  /// The session in the listing, if the store has a seal of it that this home does not know.
  var unknownSeal: RemoteSession?
  /// Why such a seal does not count; nil if there was none.
  var sealDoubt: SealDoubt?
  /// Segments that this home remembers, and the listing lacks.
  var vanished: [SegmentName] = []
  /// Whether an open session has put nothing for so long that it might be considered abandoned, or
  /// the store's newest revision is a seal.
  var isQuiet = false
  /// Log bytes of the objects that this pass has put.
  var sentInPass: ByteCount = 0
  /// Whether the rest of the log is left to later passes, because the time of this one is over.
  var isCutShort = false
  /// Whether the previous pass covered small segments, and nothing has been put since.
  var hasCovered = false
  /// Whether the store's copy must be compared with the log byte by byte, because nothing else
  /// proves that it is of this session's user.
  var mustProveOwner = false
  /// Whether a log that differs from the sent stream has begun its next generation in this pass.
  var isRewritten = false
  /// Set if the store's copy counts in place of the local log.
  var replacedLog: ReplacedLog?
  /// Findings from sending the stream; nil if it was not sent from its beginning.
  var tally: StreamTally?
  /// One-time steps that this pass has done.
  var done: UploadSteps = []

  /// The session.
  var session: SessionID { local.session }
  /// Whether it reads a foreign file.
  var isAttached: Bool { sidecar.source != nil }
  /// Whether it can be sealed although its log is gone, with what the store has of it.
  var canEndWithoutLog: Bool {
    log == nil && !isAttached && !isSidecarDamaged && sidecar.seal == nil
  }
  /// Bytes at the end of the log that are gone and were not sent, 0 if their number is unknown; nil
  /// if none are known to be.
  ///
  /// A recorder states the length when it ends the session. One that was killed has not, but noted
  /// where the newest rotated part ends.
  var lost: ByteCount? {
    guard !isAttached, replacedLog?.differs != true else { return sidecar.lost }
    let rotated = local.files.notedEnd?.byteCount ?? 0
    let written = max(sidecar.fileSizeBytes + (sidecar.lost ?? 0), rotated)
    if written > length.byteCount { return written - length.byteCount }
    let isGone = replacedLog.map { $0.log == nil } ?? (log == nil)
    return isGone && length == 0 ? 0 : nil
  }
  /// Which rules bind which bytes; nil if none are known.
  var redaction: [Sidecar.RedactionEpoch]? { uploadState.redaction(sidecar) }
  /// The generation of the local log.
  var generation: Int { uploadState.generation(sidecar) }
  /// The consent that the store's newest revision states; without one, that at the session's start.
  var saidConsent: Consent { uploadState.consent(sidecar) }
  /// Whether neither its sidecar nor what was sent says that its log may be: it may have been recorded
  /// under consent 'metadata'.
  func lacksConsent(in home: Home) -> Bool {
    isSidecarDamaged && uploadState.consent == nil && length > 0 && entry.segments.isEmpty
      && home.hasWithheldLogs
  }
  /// Whether the sent stream is of the local log's generation.
  var isOfThisGeneration: Bool { entry.generation == generation }
  /// Whether something of the stream was sent; it may be what follows a hole.
  var hasSent: Bool {
    entry.sent > 0 || entry.segments.keys.contains { $0.generation == entry.generation }
  }
  /// Sent stream bytes with which the local log still begins; nil if a listing has to decide.
  var sent: StreamOffset? {
    isInManifest && !entry.isDirty && isOfThisGeneration ? entry.sent : nil
  }

  /// The streams of earlier generations that the store keeps: what was sent again to redact it is
  /// deleted.
  var former: [Sidecar.FormerStream] {
    let (first, kept) = (uploadState.generation ?? 1, Set(uploadState.kept ?? []))
    return (sidecar.former ?? []).filter {
      ($0.generation >= first || kept.contains($0.generation)) && $0.generation < entry.generation
    }
  }

  /// The log as it is sent.
  ///
  /// - Throws: ``Platform/SystemError`` if none of it is left.
  func requireView() throws -> LocalStream {
    if let view { return view }
    throw missingLog
  }

  /// The error for a log that is not there: an attached file may have been renamed since the pass
  /// began, and the next one looks for it.
  var missingLog: SystemError {
    SystemError(
      operation: "open", path: sidecar.source?.path ?? local.files.log,
      errno: SystemError.Number.notFound)
  }

  /// The log as it is sent, between its holes.
  ///
  /// - Throws: like ``requireView()``; ``Replica/ReplicaError`` if a rule set that binds it is missing.
  func runs(_ context: SyncContext) throws -> [LocalStream] {
    let spans = try context.redaction.spans(requireView().redaction ?? [])
    return try local.openLog(sidecar.source)?.redacted(by: spans, sidecar.format)
      .runs(without: unreadable) ?? []
  }

  /// Whether the present log overrides the sent stream: an attached session's whole stream is one
  /// file.
  func isWholeFile() throws -> Bool {
    guard let view else { return false }
    return try sidecar.source?.base == 0 && view.available().lowerBound == 0
      && view.isStillTheSame()
  }
}

// MARK: Reading it

extension SessionState {
  /// Reads the state of a session.
  ///
  /// - Parameters:
  ///   - lock: the session's exclusive lock, if the caller holds it: no process writes the session
  ///     any more, and parts that its recorder left plain are compressed.
  /// - Throws: ``Platform/SystemError``; errors of the manifest.
  static func load(
    _ session: SessionID, _ context: SyncContext, holding lock: FileLock? = nil
  ) throws -> SessionState {
    let local = LocalSession(context.home, session)
    let found = try local.sidecarAsFound(device: context.device)
    var state = SessionState(
      local: local, sidecar: found.sidecar, isSidecarDamaged: found.isDamaged,
      formerDevice: found.formerDevice, modified: found.sidecar.lastUpdatedAt)
    if let entry = try context.manifest.entry(session) {
      (state.entry, state.isInManifest) = (entry, true)
    }
    if lock != nil, !state.isAttached { try local.compressParts(state.sidecar.format) }
    state.uploadState = try local.loadUploadState(beside: state.sidecar) ?? UploadState()
    state.log = try local.openLog(state.sidecar.source)?.afterHoles()
    if let log = state.log { (state.length, state.modified) = try log.status() }
    return state
  }

  /// Determines how the session ended, and whether its log may be sent.
  ///
  /// An open session follows the configuration. An ended one follows the last consent that an upload
  /// had while it was open: allowing logs later does not include sessions that were over by then.
  ///
  /// - Parameter lock: the session's exclusive lock; nil if another process has it.
  mutating func judge(_ context: SyncContext, holding lock: FileLock?) throws {
    isLockFree = lock != nil
    try judge(context)
  }

  private mutating func judge(_ context: SyncContext) throws {
    verdict = try Verdict.reach(
      sidecar: sidecar, files: local.files, lockGranted: isLockFree, machine: context.machine,
      now: context.now(), logModified: modified)
    let last = verdict == nil ? context.consent : uploadState.found ?? saidConsent
    consent = context.consent == .logs ? last : context.consent
  }

  /// Determines up to which offset the log is sent in this pass: its end if the session has ended,
  /// else the end of its last record, and not inside a possible secret.
  ///
  /// - Parameter planned: that offset, if already determined in this pass.
  mutating func measure(_ context: SyncContext, planned: StreamOffset? = nil) throws {
    guard let log = view ?? log else { return }
    (length, modified) = try log.status()
    hasCovered = entry.merged > 0 && entry.merged == entry.sent
    isIdle = local.isIdle(since: modified, context)
    if let planned { return end = planned }
    guard verdict == nil else { return end = length }
    let sent = isOfThisGeneration ? entry.sent : .zero
    (end, rest) = try local.sendableEnd(
      of: log, length: length, sent: sent, modified: modified, format: sidecar.format,
      context: context)
  }
}

// MARK: Changing it

extension SessionState {
  /// Records the consent that the store's newest revision states.
  mutating func record(_ consent: Consent) throws {
    var uploadState = uploadState
    (uploadState.consent, uploadState.found) = (consent, nil)
    try local.write(uploadState, isDurable: true)
    self.uploadState = uploadState
  }

  /// Records which rules bind which bytes and, for a recorded stream, its generation.
  mutating func record(_ epochs: [Sidecar.RedactionEpoch], generation: Int?) throws {
    uploadState = try local.record(epochs, generation: generation, in: uploadState)
  }

  /// Records that the local log is another generation than the sent stream.
  ///
  /// - Parameter isRedacting: whether that of an attached file takes the place of one that a redaction
  ///   began.
  mutating func beginNextGeneration(redacting isRedacting: Bool = false) throws {
    let highest = entry.segments.keys.map(\.generation).max() ?? 1
    let next = try Self.generation(after: max(highest, entry.generation), of: session)
    if !isAttached || isRedacting { try record(redaction ?? [], generation: next) }
    guard isAttached else { return }
    sidecar.generation = next
    try sidecar.save(local.files.sidecar)
  }

  /// The generation after the highest that the store has.
  ///
  /// - Throws: ``Replica/ReplicaError`` if there can be none.
  static func generation(after highest: Int, of session: SessionID) throws -> Int {
    guard Sidecar.generations.contains(highest + 1) else {
      throw ReplicaError(
        .damagedObject,
        "the store has an object of \(session) in generation \(highest), the last that there can be: "
          + "it is damaged or forged; remove it from the store, then run 'tidemark retry \(session)'"
      )
    }
    return highest + 1
  }

  /// Records that another generation takes the place of the stream that was sent, which the store
  /// keeps; before a revision names that generation.
  ///
  /// What is listed already stays.
  mutating func keepFormerStream(until now: Timestamp) throws {
    guard entry.sent > 0 else { return }
    let stream = Sidecar.FormerStream(
      generation: entry.generation, length: entry.sent, until: now)
    let others = (sidecar.former ?? []).filter { $0.generation != stream.generation }
    let all = (others + [stream]).sorted { $0.generation < $1.generation }
    sidecar.former = all.suffix(Sidecar.mostFormerStreams)
    try sidecar.save(local.files.sidecar)
  }

  /// Adopts the store's newest revision if the sidecar is lost: also the session's description, its
  /// end, and its consent.
  mutating func adopt(_ revision: Sidecar, _ context: SyncContext) throws {
    var adopted = revision
    adopted.deviceId = sidecar.deviceId
    adopted.bind(to: context.home.owner, of: context.device)
    (adopted.objects, adopted.basis, adopted.indexes) = (nil, nil, nil)
    adopted.digest = nil
    (adopted.recorder, adopted.seal, adopted.source) = (nil, nil, nil)
    sidecar = adopted
    // It outranks what a person allowed while it was not known.
    if adopted.withholdsLog { uploadState.consent = .metadata }
    if verdict != nil { try judge(context) }
    if consent == .logs { try openView(context) }
  }

  /// Lets the rules of a generation count again, beyond which nothing can be sent.
  mutating func withdrawRedaction(beyond generation: Int, _ context: SyncContext) throws {
    guard let withdrawn = try local.withdrawRedaction(beyond: generation) else { return }
    uploadState = withdrawn
    try openView(context)
  }

  /// Sets how much of the stream the foreign file of an attached session had.
  mutating func setSourceLength(_ length: StreamOffset, _ context: SyncContext) throws {
    sidecar.source?.length = length
    try sidecar.save(local.files.sidecar)
    log = try local.openLog(sidecar.source)
    try openView(context)
    if let log { (self.length, modified) = try log.status() }
  }

  /// Lets damaged ranges of a recorded log count as gone.
  ///
  /// - Returns: false if there are none that did not count as gone before.
  /// - Throws: ``Platform/SystemError``; like ``openView(_:)``.
  mutating func leaveOutDamage(_ context: SyncContext) throws -> Bool {
    guard unreadable.isEmpty, replacedLog == nil, let whole = try local.openLog(sidecar.source)
    else { return false }
    unreadable = try whole.damage()
    guard !unreadable.isEmpty else { return false }
    log = try whole.afterHoles(without: unreadable)
    try openView(context)
    (end, tally, done) = (nil, nil, [])
    return true
  }

  /// Opens the log as it is sent, under the rules known to bind it.
  ///
  /// - Throws: ``Replica/ReplicaError`` if a rule set that binds it is missing.
  mutating func openView(_ context: SyncContext) throws {
    let spans = try context.redaction.spans(redaction ?? [])
    view = log?.redacted(by: spans, sidecar.format)
  }

  /// Binds other rules to the log as it is sent.
  mutating func bind(_ epochs: [Sidecar.RedactionEpoch], _ context: SyncContext) throws {
    let spans = try context.redaction.spans(epochs)
    view = log?.redacted(by: spans, sidecar.format)
  }
}

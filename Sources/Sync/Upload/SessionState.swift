import Delta
import Platform
import Replica
import SessionLog

/// Everything that a pass decides one session by, read once.
///
/// A step that changes any of it changes the state and the file or row behind it together.
struct SessionState {
  /// Where the session lies.
  let local: LocalSession
  /// What the sidecar says, or what can be said without it.
  var sidecar: Sidecar
  /// Whether the sidecar is missing or cannot be read.
  var isSidecarDamaged = false
  /// The device id that it was recorded under, where that is another one.
  var formerDevice: String?
  /// What the uploader has noted of what it sent.
  var note = SentNote()
  /// What the manifest knows of it; a new entry, of no boot, where it has none.
  var entry = ManifestEntry(boot: "")
  /// The revision that this pass put last.
  var latest: RevisionName?
  /// Whether the manifest has a row of it.
  var isInManifest = false

  /// The log as it lies here; nil where none of it does.
  var log: LocalStream?
  /// The log as it leaves this machine; nil until a step needs it.
  var view: LocalStream?
  /// Length of the log.
  var length = StreamOffset.zero
  /// When it last grew.
  var modified: Timestamp
  /// Whether the session's exclusive lock was free: nobody was writing it.
  var isLockFree = false
  /// How the session ended; nil while it goes on, or where that cannot be known.
  var verdict: Verdict?
  /// Whether its log may leave, or its sidecar alone.
  var consent = Consent.logs

  /// Why nothing of it is sent in this pass; nil where something is.
  var wait: WaitReason?
  /// Up to where the log is sent in this pass; nil until that was found.
  var end: StreamOffset?
  /// Why it is not sent beyond ``end``.
  var rest: WaitReason?
  /// Whether nothing has come to the log for so long that it may be cut where it stands.
  var isIdle = false
  /// Whether the entry may be taken as it is, without a listing.
  var isEntryTrusted = false
  /// Whether the entry was read off a listing of this pass.
  var isEntryListed = false
  /// Whether nothing of a session that goes on was put for so long that it might be taken for
  /// abandoned.
  var isQuiet = false
  /// Whether the pass before covered small segments, and nothing has been put since.
  var hasCovered = false
  /// Whether what the store has must be compared with the log byte by byte, as nothing else shows that
  /// it is of this session's user.
  var mustProveOwner = false
  /// Whether a log that differs from what was sent has begun its next generation in this pass.
  var isRewritten = false
  /// What sending the stream has shown of it; nil where it was not sent from its beginning.
  var tally: StreamTally?
  /// Steps that this pass does once, and has done.
  var done: Set<UploadStep> = []

  /// The session.
  var session: SessionID { local.session }
  /// Whether it reads a foreign file.
  var isAttached: Bool { sidecar.source != nil }
  /// Which rules bind which bytes; nil when nothing is known of any.
  var redaction: [Sidecar.RedactionEpoch]? { note.redaction(sidecar) }
  /// The generation of which the local log is.
  var generation: Int { note.generation(sidecar) }
  /// The consent that the store's newest revision states, else the one at the session's start.
  var saidConsent: Consent { note.consent(sidecar) }
  /// Whether what was sent is of the generation that the local log is.
  var isOfThisGeneration: Bool { entry.generation == generation }
  /// Stream bytes sent that the local log still begins with; nil where a listing has to tell.
  var sent: StreamOffset? {
    isInManifest && !entry.isDirty && isOfThisGeneration ? entry.sent : nil
  }

  /// The log as it leaves this machine.
  ///
  /// - Throws: ``Platform/SystemError`` where none of it is here.
  func requireView() throws -> LocalStream {
    if let view { return view }
    throw SystemError(operation: "open", path: local.files.log, errno: SystemError.Number.notFound)
  }

  /// Whether the log as it is now is meant, whatever was sent before: all of an attached session's
  /// stream is one file.
  func isWholeFile() throws -> Bool {
    guard let view else { return false }
    return try sidecar.source?.base == 0 && view.available().lowerBound == 0
      && view.isStillTheSame()
  }
}

// MARK: Reading it

extension SessionState {
  /// Reads what is known of a session.
  ///
  /// - Parameters:
  ///   - lock: the session's exclusive lock, where the caller holds it: nobody writes the session any
  ///     more, and parts that its recorder left plain are compressed.
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
    state.note = try local.sentNote() ?? SentNote()
    state.log = try local.openLog(state.sidecar.source)
    if let log = state.log { (state.length, state.modified) = try log.status() }
    return state
  }

  /// Finds out how the session ended, and with that whether its log may leave.
  ///
  /// One that goes on follows the configuration. One that has ended follows what was said last: to
  /// allow logs later does not allow those of what was over by then.
  ///
  /// - Parameter lock: the session's exclusive lock; nil where somebody else has it.
  mutating func judge(_ context: SyncContext, holding lock: FileLock?) throws {
    isLockFree = lock != nil
    try judge(context)
  }

  private mutating func judge(_ context: SyncContext) throws {
    verdict = try Verdict.reach(
      sidecar: sidecar, files: local.files, lockGranted: isLockFree, machine: context.machine,
      now: context.now(), logModified: modified)
    consent =
      context.consent == .logs && verdict != nil ? saidConsent : context.consent
  }

  /// Finds up to where the log is sent in this pass: its end where the session has ended, else the
  /// end of its last record, and not inside of what may become a secret.
  ///
  /// - Parameter planned: where that is, where it has been looked for in this pass.
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
  /// Notes what the newest revision in the store says of the log's leaving.
  mutating func note(_ consent: Consent) throws {
    var note = note
    note.consent = consent
    try local.write(note, isDurable: true)
    self.note = note
  }

  /// Notes which rules bind which bytes and, for a recorded stream, its generation.
  mutating func note(_ epochs: [Sidecar.RedactionEpoch], generation: Int?) throws {
    note = try local.note(epochs, generation: generation, in: note)
  }

  /// Says that the local log is another generation than what was sent.
  mutating func beginNextGeneration() throws {
    let highest = entry.segments.keys.map(\.generation).max() ?? 1
    let next = max(highest, entry.generation) + 1
    guard Sidecar.generations.contains(next) else {
      throw ReplicaError(
        .damagedObject,
        "the store has an object of \(session) in generation \(next - 1), the last that there can be: "
          + "it is damaged or forged; remove it from the store, then run 'tidemark retry \(session)'"
      )
    }
    guard isAttached else { return try note(redaction ?? [], generation: next) }
    sidecar.generation = next
    try sidecar.save(local.files.sidecar)
  }

  /// Starts from what the store's newest revision says where the sidecar is lost: also of what the
  /// session was, how it ended, and whether its log may leave.
  mutating func adopt(_ revision: Sidecar, _ context: SyncContext) throws {
    var adopted = revision
    (adopted.userId, adopted.deviceId) =
      (context.home.owner?.name ?? revision.userId, sidecar.deviceId)
    adopted.uid = context.home.owner?.id
    (adopted.objects, adopted.basis, adopted.digest) = (nil, nil, nil)
    (adopted.recorder, adopted.seal, adopted.source) = (nil, nil, nil)
    sidecar = adopted
    if verdict != nil { try judge(context) }
    if consent == .logs { try openView(context) }
  }

  /// Sets how much of the stream the foreign file of an attached session had.
  mutating func setSourceLength(_ length: StreamOffset, _ context: SyncContext) throws {
    sidecar.source?.length = length
    try sidecar.save(local.files.sidecar)
    log = try local.openLog(sidecar.source)
    try openView(context)
    if let log { (self.length, modified) = try log.status() }
  }

  /// Opens the log as it leaves this machine, by the rules that are known to bind it.
  ///
  /// - Throws: ``Replica/ReplicaError`` where rules are missing that bind it.
  mutating func openView(_ context: SyncContext) throws {
    let stretches = try context.redaction.stretches(redaction ?? [])
    view = log?.redacted(by: stretches, sidecar.format)
  }

  /// Lets other rules bind the log as it leaves this machine.
  mutating func bind(_ epochs: [Sidecar.RedactionEpoch], _ context: SyncContext) throws {
    let stretches = try context.redaction.stretches(epochs)
    view = log?.redacted(by: stretches, sidecar.format)
  }
}

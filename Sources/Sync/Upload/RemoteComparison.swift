import Delta
import Logging
import ObjectStore
import Platform
import Replica
import SessionLog

/// Determines the remote state of a session, from the manifest or a listing, and whether the local
/// log still matches it.
struct RemoteComparison {
  let writer: RemoteWriter

  init(_ writer: RemoteWriter) { self.writer = writer }

  var context: SyncContext { writer.context }

  /// Whether the manifest suffices without a listing; before a seal the folder is always listed.
  ///
  /// Also before other rules bind the rest: what a manifest that was put back has forgotten to be sent
  /// keeps its rules.
  func trustsManifest(_ state: SessionState) -> Bool {
    state.verdict == nil && !state.isSidecarDamaged && isBelievable(state)
      && (!state.hasSent || state.consent == .metadata
        || state.redaction?.last?.rules == context.redaction.version)
      && context.ownership?.proves(state.entry.owner, writer.session, in: writer.folder) ?? true
  }

  private func isBelievable(_ state: SessionState) -> Bool {
    let rulesAreKnown = !state.hasSent || state.redaction?.isEmpty == false
    return state.isInManifest && !state.entry.isDirty
      && state.entry.boot == context.machine.bootId
      && (state.consent == .metadata || rulesAreKnown)
  }

  /// Updates the entry from the folder's names, unless the manifest agrees with them.
  func list(_ state: inout SessionState) async throws {
    var listed = try await writer.folders.session(state.session, in: writer.folder)
    listed = try await writer.folders.session(
      state.session, in: writer.folder,
      expecting: state.entry.expected(besides: listed.revision))
    try await proveOwner(&state, listed)
    let counting = try withoutForeignObjects(listed, state)
    let (remote, proven) = try await withoutFalseObjects(counting, state)
    let owner = state.entry.owner
    defer { (state.isEntryTrusted, state.entry.owner) = (true, owner) }
    try await adoptSidecar(&state, remote)
    try await adoptRules(&state, remote)
    // Another writer's seal would hide what the session still writes: a newer revision outranks it.
    state.isQuiet =
      state.verdict == nil
      && (isQuiet(remote) || remote.seal != nil || lacksRevision(remote, state.entry))
    state.unknownSeal = SealAdoption.isDue(state, listed) ? listed : nil
    if isBelievable(state), isComplete(state, remote), !state.mustProveOwner { return }
    context.logger.debug(
      "\(state.session): the manifest cannot be believed, or lacks the session: list the store")
    if state.consent == .logs {
      try withdrawRewrite(&state, remote)
      try adjustSourceLength(&state, remote)
    }
    let known = state.entry
    state.vanished = known.segments.keys.filter {
      $0.generation <= known.generation && !remote.segments.contains($0)
    }
    var entry = UploadCheckpoint(
      boot: context.machine.bootId, intended: known.intended, revisions: known.revisions,
      indexes: known.indexes)
    // A generation stays what it is without the revision that named it.
    let outlives =
      known.hasNamedGeneration && known.generation > remote.generation
      && (state.consent == .metadata || remote.mark(of: known.generation) >= known.sent)
    entry.generation = outlives ? known.generation : remote.generation
    entry.sent = remote.mark(of: entry.generation)
    entry.revision = max(remote.revision?.number ?? 0, known.revision)
    entry.hasCutObjects = remote.hasCutObjects
    entry.attempts = known.attempts
    entry.segments = Dictionary(
      remote.segments.map { ($0, known.segments[$0] ?? proven.contains($0)) },
      uniquingKeysWith: { first, _ in first })
    for name in remote.segments {
      if known.own.contains(name) || known.intended.contains(name) { entry.own(name) }
    }
    if state.consent == .metadata {
      try keepLost(state.vanished, of: known, in: &entry, besides: remote)
      // A pass that later sends log bytes has to compare first.
      if entry.sent > 0 { entry.boot = "" }
    } else {
      entry.isKept = state.isInManifest
      entry.merged = min(known.merged, entry.sent)
    }
    state.entry = entry
    state.isEntryListed = true
  }

  /// Keeps objects of a withheld log that the store has lost: no pass sends them again, and its
  /// seal says how much was sent.
  ///
  /// - Throws: ``ReplicaError`` if bytes are lost of which this home does not know the objects.
  private func keepLost(
    _ lost: [SegmentName], of known: UploadCheckpoint, in entry: inout UploadCheckpoint,
    besides remote: RemoteSession
  ) throws {
    if known.generation == entry.generation, entry.sent < known.sent {
      for name in lost {
        entry.segments[name] = known.segments[name]
        if known.own.contains(name) { entry.own(name) }
      }
      entry.sent = RemoteSession(
        folder: remote.folder, session: remote.session, segments: Array(entry.segments.keys)
      ).mark(of: entry.generation)
    }
    guard !known.knowsObjects, let revision = remote.revision, revision.status == .active,
      revision.generation == entry.generation, entry.sent < revision.length
    else { return }
    throw ReplicaError(
      .missingBytes,
      "bytes \(entry.sent) to \(revision.length) of \(remote.session), sent before the consent "
        + "withheld the rest, are not in the store any more: it is not sealed, and its local log "
        + "stays. Put the objects back from a backup or the bucket's versions, then run 'tidemark retry "
        + "\(remote.session)'; or 'tidemark delete \(remote.session)' ends it")
  }

  /// Proves that the store's copy of the session is of this home's user.
  ///
  /// - Throws: ``ReplicaError`` if it is not.
  private func proveOwner(_ state: inout SessionState, _ remote: RemoteSession) async throws {
    guard let ownership = context.ownership else { return }
    let (session, folder) = (state.session, writer.folder)
    guard !ownership.proves(state.entry.owner, session, in: folder) else { return }
    let finding = try await ownership.finding(remote, by: context.reader)
    guard finding == .proven || ownership.hasClaimed(session) else {
      throw ownership.refusal(session, state.local.files.log)
    }
    switch finding {
    case .proven, .own:
      state.entry.owner = ownership.proof(session, in: folder, by: finding)
    case .undecided where state.consent == .logs: state.mustProveOwner = true
    case .undecided, .foreign: throw ownership.refusal(session, state.local.files.log)
    }
  }

  /// Whether the newest object is so old, by the server's clock, that another reaper may soon
  /// consider the session abandoned.
  private func isQuiet(_ remote: RemoteSession) -> Bool {
    guard let newest = remote.newest else { return false }
    return context.serverNow - newest >= context.limits.quiet
  }

  /// Whether the store has lost the revision that shows the session, or its generation.
  private func lacksRevision(_ remote: RemoteSession, _ known: UploadCheckpoint) -> Bool {
    remote.revision == nil ? known.revision > 0 : remote.generation < known.generation
  }

  /// Takes the rules from the newest revision if this home has lost its record of them: a revision
  /// states them before anything is sent under them, and not every segment can be compared with the log.
  private func adoptRules(_ state: inout SessionState, _ remote: RemoteSession) async throws {
    guard state.consent == .logs, state.view != nil, state.redaction == nil, remote.seal == nil,
      let revision = remote.revision, revision.generation == state.generation,
      remote.segments.contains(where: { $0.generation == revision.generation })
    else { return }
    do {
      let said = try await context.reader.read(revision, in: writer.folder)
      // Those of bytes that were not sent are decided anew.
      let end = remote.segments(of: revision.generation).map(\.range.upperBound).max() ?? 0
      let epochs = (said.redaction ?? []).filter { $0.from <= end }
      guard !epochs.isEmpty, (try? context.redaction.spans(epochs)) != nil else { return }
      try state.record(epochs, generation: state.uploadState.generation)
      try state.openView(context)
    } catch let error as ReplicaError {
      context.logger.warning("\(state.session): \(error)")
    }
  }

  private func adoptSidecar(_ state: inout SessionState, _ remote: RemoteSession) async throws {
    guard state.isSidecarDamaged else { return }
    for revision in remote.revisions.reversed() {
      do {
        let found = try await context.reader.read(revision, in: writer.folder)
        return try state.adopt(found, context)
      } catch let error as ReplicaError where error.code == .damagedObject {
        context.logger.warning("\(state.session): \(error)")
      }
    }
    try expectConsent(state)
  }

  /// Expects that the log of an ended session may be sent whose sidecar the store does not have, either.
  ///
  /// - Throws: ``ReplicaError`` with the commands that decide.
  private func expectConsent(_ state: SessionState) throws {
    guard state.verdict != nil, state.consent == .logs, state.lacksConsent(in: context.home)
    else { return }
    let session = state.session
    throw ReplicaError(
      .unknownConsent,
      "\(state.local.files.sidecar) is lost or damaged, and with it whether the log may be sent: this "
        + "home has recorded under 'consent: metadata'. 'tidemark retry \(session)' sends the log, "
        + "'tidemark delete \(session)' deletes it")
  }

  /// Whether the store has nothing of the session that the manifest lacks, and everything that the
  /// seal would name.
  private func isComplete(_ state: SessionState, _ listed: RemoteSession) -> Bool {
    let known = state.entry
    // Deltas copy from earlier generations, and the former streams are in them.
    let earlier = known.segments.keys.filter { $0.generation < known.generation }
    let needed = writer.remote(state).cover(upTo: known.sent, of: known.generation) + earlier
    return listed.segments.allSatisfy { known.segments[$0] != nil }
      && (listed.revision?.number ?? 0) <= known.revision
      && Set(needed).isSubset(of: listed.segments)
  }

  /// Lets the listed generation of a missing attached file count again if the next one, noticed by a
  /// home that has lost its cache since, was never sent whole: nobody can read it any more.
  private func withdrawRewrite(_ state: inout SessionState, _ remote: RemoteSession) throws {
    guard let source = state.sidecar.source, source.isGone, source.length != nil,
      !state.isInManifest || state.entry.isDirty, remote.mark > 0,
      state.generation > remote.generation,
      state.uploadState.generation != state.generation || state.uploadState.replaced != nil,
      try !Self.isWhole(source, state)
    else { return }
    try state.withdrawRedaction(beyond: remote.generation, context)
    state.sidecar.generation = remote.generation == 1 ? nil : remote.generation
    try state.sidecar.save(state.local.files.sidecar)
  }

  /// Finds out how much of the stream a missing attached file had: a killed pass may have sent
  /// bytes of it that the home recorded elsewhere.
  private func adjustSourceLength(_ state: inout SessionState, _ remote: RemoteSession) throws {
    guard let source = state.sidecar.source, source.isGone, let length = source.length,
      !state.isInManifest || state.entry.isDirty, try !Self.isWhole(source, state)
    else { return }
    let log = try state.requireView()
    var end = length
    for segment in remote.cover(upTo: remote.mark) where segment.range.upperBound > end {
      let isRest =
        try segment.range.lowerBound >= end && segment.isPart(of: log)
      if isRest || state.entry.knowsObjects && !state.entry.knows(segment) { break }
      end = segment.range.upperBound
    }
    guard end != length else { return }
    let path = state.local.files.log
    if state.local.hasOnlyGap(of: source), let line = LossLine(log: try AtomicFile.read(path)) {
      try AtomicFile.write(line.moved(to: end).log, to: path)
    }
    try state.setSourceLength(end, context)
  }

  /// Whether the home has the whole stream of a missing attached file.
  private static func isWhole(_ source: Sidecar.Source, _ state: SessionState) throws -> Bool {
    try state.log?.available().lowerBound == 0 && !state.local.hasOnlyGap(of: source)
  }

  // MARK: The local log

  /// Verifies that the local log matches the sent stream; another generation need not.
  ///
  /// - Throws: ``ReplicaError`` if it does not.
  func compare(_ state: inout SessionState) throws {
    if case .ofOtherEnd(let doubt) = state.sealDoubt {
      throw ReplicaError(
        .damagedObject,
        "the store has a seal of \(state.session) that this home did not put, and \(doubt). Nothing is "
          + "sealed or deleted; 'tidemark show --remote \(state.session)' reads what that seal names, "
          + "'tidemark delete --local \(state.session)' ends it here")
    }
    guard state.log != nil else {
      throw ReplicaError(
        .localLogChanged,
        "\(state.local.files.log) is gone, and the store has objects of \(state.session) that this home "
          + "did not put, or lacks some that it did: it is not sealed. 'tidemark pull' salvages what can "
          + "be read, 'tidemark delete \(state.session)' ends it")
    }
    guard state.isOfThisGeneration else {
      guard state.mustProveOwner, let ownership = context.ownership else { return }
      throw ownership.refusal(state.session, state.local.files.log)
    }
    if state.isEntryListed { return try compareWithNames(&state) }
    let log = try state.requireView()
    guard state.length >= state.entry.sent, try Self.isUnchanged(log, state.entry) else {
      throw ReplicaError(
        .localLogChanged,
        "\(log.path) is shorter than, or differs from, the \(state.entry.sent) bytes that were sent"
      )
    }
  }

  /// Whether the local part of the log matches the sent stream; bytes that are no longer local
  /// cannot differ.
  static func isUnchanged(_ log: LocalStream, _ known: UploadCheckpoint) throws -> Bool {
    let covered = known.sent - ByteCount(known.link.covered)
    guard try log.available().lowerBound <= covered else { return true }
    return try log.link(before: known.sent) == known.link
  }

  private func compareWithNames(_ state: inout SessionState) throws {
    let segments = writer.remote(state).segments(of: state.entry.generation)
    if try state.requireView().redaction == nil, !segments.isEmpty {
      try RuleBinding(writer).recover(&state, segments)
    }
    let log = try state.requireView()
    let first = try log.available().lowerBound
    for name in segments {
      guard name.range.upperBound <= state.length else {
        var hint = ""
        if case .unusable(let doubt) = state.sealDoubt {
          hint = ". Its seal in the store cannot be adopted: \(doubt)"
        }
        throw ReplicaError(
          .localLogChanged,
          "the store has \(state.session) up to byte \(state.entry.sent), \(log.path) ends at byte "
            + "\(state.length): it lost its end, or was restored from a backup. Nothing is sealed or "
            + "deleted; 'tidemark show --remote \(state.session)' has the rest" + hint)
      }
      if first > name.range.lowerBound, !state.mustProveOwner { continue }
      guard try first <= name.range.lowerBound && name.matches(log) else {
        if state.mustProveOwner, let ownership = context.ownership {
          throw ownership.refusal(state.session, log.path)
        }
        throw ReplicaError(
          .localLogChanged,
          "\(writer.folder.key)\(name.fileName) does not hold what \(log.path) has there")
      }
      state.entry.own(name)
    }
    state.entry.link = try log.link(before: state.entry.sent)
    if state.mustProveOwner {
      state.entry.owner = context.ownership?.proof(state.session, in: writer.folder)
      state.mustProveOwner = false
    }
  }
}

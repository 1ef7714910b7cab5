import LogRecords
import ObjectStore
import Platform
import Replica
import SessionLog

/// Seals a session that can no longer be written: proof, seal revision, hold, local record.
struct Sealer {
  let writer: RemoteWriter

  init(_ writer: RemoteWriter) { self.writer = writer }

  private var context: SyncContext { writer.context }

  /// Maximum bytes of a seal's JSON without its signature and the name of the previous revision.
  private static let mostBytes = Int(clamping: RevisionName.largestObject) - 4096
  /// So many objects fit into a seal, with the hashes of their indexes.
  private static let surelyFitting = 1000

  /// Seals a session whose every byte has been sent.
  func seal(_ state: inout SessionState) async throws {
    guard let length = state.end else { return }
    let log = try state.requireView()
    var tally =
      try state.tally
      ?? StreamTally(RecordReader(state.sidecar.format, reference: log.status().modified))
    let objects = try await ObjectProof(writer).prove(upTo: length, &tally, &state)
    tally.finish()

    var final = state.sidecar
    final.consent = nil
    final.categories = tally.statistics.categoryNames
    final.scenarios = tally.statistics.scenarioNames
    final.levels = tally.statistics.levelCounts
    if state.verdict?.status == .crashed {
      let lines = try log.lastLines(upTo: length)
      final.crash = Sidecar.Crash(core: final.crash?.core, lines: lines)
    }
    final.digest = tally.digest
    final.redaction = log.redaction
    final.redacted = try log.redactions(upTo: length)
    try await seal(final, objects, length: length, &state)
  }

  /// Puts the seal for the stream in the store, and records it locally.
  ///
  /// - Parameters:
  ///   - sidecar: the session's sidecar, without end and objects.
  ///   - objects: the objects that hold the stream, or the part that the store has.
  ///   - length: stream bytes in the store.
  func seal(
    _ sidecar: Sidecar, _ objects: [SegmentName], length: StreamOffset,
    _ state: inout SessionState
  ) async throws {
    guard let verdict = state.verdict else { return }
    if state.isSidecarDamaged { try quarantineSidecar(state) }
    var final = sidecar
    final.clockOffset = context.serverClock.offset?.milliseconds ?? sidecar.clockOffset
    final.status = verdict.status
    final.cause = verdict.cause
    final.endedAt = verdict.endedAt
    final.lastUpdatedAt = verdict.endedAt
    final.fileSizeBytes = state.length.byteCount
    final.lost = state.lost
    final.objects = objects.map(\.fileName)
    let basis = try await writer.basis(of: objects, state)
    final.basis = basis.map(\.fileName)
    final.generation = state.entry.generation == 1 ? nil : state.entry.generation
    final.indexes = try await indexes(of: objects + basis, final, length: length, state)
    // A session in so many objects is sealed all the same, and its parts are read like those of 0.1.
    if objects.count + basis.count > Self.surelyFitting,
      try writer.sent(final, state).json().count > Self.mostBytes
    {
      final.indexes = nil
    }

    let hasSuperseded = !state.entry.hasOnlyFinalObjects
    let name = try await put(final, length: length, &state)
    try await hold(state)
    try mark(final, by: name, length: length, state)
    try SentSignature.remove(context.home, state.session, generation: state.entry.generation)
    writer.report(
      .sealed(session: state.session, status: final.status, hasSuperseded: hasSuperseded))
    if let reason = Self.text(on: state, sealed: length, lost: final.lost) {
      writer.report(.sealedAsSent(session: state.session, reason: reason))
    }
  }

  /// What became of a log that was not sealed as it was written, for a person; nil if it was.
  private static func text(
    on state: SessionState, sealed length: StreamOffset, lost: ByteCount?
  ) -> String? {
    let path = state.local.files.log
    if let replaced = state.replacedLog { return replaced.text(sealed: length, lost: lost) }
    guard let lost, state.sidecar.lost != lost else { return nil }
    guard state.log != nil else { return "\(path) is gone: sealed without it" }
    return "\(path) ends at byte \(state.length), and lost its last \(lost) bytes before they were "
      + "sent: sealed with what is left"
  }

  /// Hashes of the objects' indexes, as far as this home knows that it made them.
  ///
  /// An index that was read back proves nothing, because others can write it: readers then read the
  /// object whole. But a seal that this home signed says what a pass knew that died before its local
  /// record.
  private func indexes(
    of objects: [SegmentName], _ sidecar: Sidecar, length: StreamOffset, _ state: SessionState
  ) async throws -> [String?] {
    let known = objects.map { state.entry.indexes[$0] }
    guard known.contains(nil), context.signer != nil,
      let seal = try await writer.folders.known(state.session, in: writer.folder)?.seal,
      seal.length == length, seal.generation == state.entry.generation
    else { return known }
    let reader = RemoteReader(context.store, knowing: context.keys)
    let said = try? await reader.read(seal, in: writer.folder)
    guard let said, said.objects == sidecar.objects, said.basis == sidecar.basis else {
      return known
    }
    return said.indexes ?? known
  }

  /// Puts the seal, or finds the one of a pass that died before its local record.
  private func put(
    _ sidecar: Sidecar, length: StreamOffset, _ state: inout SessionState
  ) async throws -> RevisionName {
    func make(_ number: Int, _ state: SessionState) async throws -> [UInt8] {
      try await writer.signed(sidecar, number: number, length: length, state)
    }
    var json: [UInt8]
    var name: RevisionName
    if let made = try await putBefore(length: length, state, making: make) {
      (name, json) = made
    } else {
      let isProven: Bool
      (name, json, isProven) = try await writer.put(
        sidecar.status, length: length, &state, making: make)
      if isProven { return name }
    }
    var key = writer.folder.key + name.fileName
    if try await context.store.get(key) == json { return name }
    do {
      _ = try await context.store.put(key, json)
    } catch let error as StoreError where RemoteWriter.mayMeanTaken(error) {
      (name, json, _) = try await writer.put(
        sidecar.status, length: length, &state, making: make)
      key = writer.folder.key + name.fileName
    }
    guard try await context.store.get(key) == json else {
      throw ReplicaError(.damagedObject, "\(key) was stored twice with other bytes than were sent")
    }
    return name
  }

  /// The seal in the store, if it is the one that would be put: a pass put it, and died before its
  /// local record.
  private func putBefore(
    length: StreamOffset, _ state: SessionState,
    making make: (Int, SessionState) async throws -> [UInt8]
  ) async throws -> (name: RevisionName, json: [UInt8])? {
    guard let known = try await writer.folders.known(state.session, in: writer.folder)?.seal,
      known.number == state.entry.revision
    else { return nil }
    let json = try await make(known.number, state)
    let name = RevisionName(
      session: state.session, number: known.number, status: known.status,
      generation: state.entry.generation, length: length, json: json)
    return name == known ? (name, json) : nil
  }

  /// Puts a hold on the session in the store if it is held here.
  ///
  /// No pass visits a session again once this home has recorded its seal: the hold comes first.
  func hold(_ state: SessionState) async throws {
    try await RemoteHold(context).keepHeld(state.session, in: writer.folder)
  }

  /// Saves this home's record of a seal.
  func mark(
    _ sidecar: Sidecar, by name: RevisionName, length: StreamOffset, _ state: SessionState
  ) throws {
    var sidecar = sidecar
    let compared =
      sidecar.withholdsLog || state.log == nil
      ? nil : Sidecar.Seal.LogState(length: state.length, modified: state.modified)
    sidecar.seal = Sidecar.Seal(
      store: context.store.location, revision: name.fileName, sealedAt: context.now(),
      digest: sidecar.digest, length: length,
      log: state.replacedLog.map(\.log) ?? compared,
      logDiffers: state.replacedLog?.differs == true ? true : nil)
    sidecar.agesFrom = context.lived.markToSave()
    sidecar.remoteReapedAt = nil
    // The state is removed with the seal, and the session may be sealed again after a repair.
    sidecar.erasesBefore = state.uploadState.generation ?? sidecar.erasesBefore
    // The uploader makes it durable together with those of other sessions, and then settles it.
    try sidecar.saveForNow(state.local.files.sidecar)
  }

  /// Keeps an unreadable sidecar where a person can inspect it.
  func quarantineSidecar(_ state: SessionState) throws {
    let kept = "\(context.home.quarantinePath)/\(state.session).json"
    do {
      try File.rename(state.local.files.sidecar, to: kept)
    } catch {
      guard error.isNotFound else { throw error }
    }
  }
}

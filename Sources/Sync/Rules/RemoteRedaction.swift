import LogRecords
import ObjectStore
package import Platform
import Redaction
import Replica
package import SessionLog

/// Applies the configured rules to logs sent before them: each session in which they mask more, or
/// less, becomes a new generation, of which only the changed segments are sent.
///
/// The replaced segments are deleted by a pass after the seal, like those of every old generation.
package struct RemoteRedaction: Sendable {
  /// A session whose stored bytes differ from those under the rules.
  package struct Item: Sendable {
    /// The session.
    package let session: SessionID
    /// Number of segments to send again.
    package let segments: Int
    /// Log bytes in these segments.
    package let bytes: ByteCount
    /// What an attached file held before it was rewritten, as far as the rules mask something of it:
    /// that cannot be masked, and is deleted.
    package let former: [Sidecar.FormerStream]
    /// The session's new generation.
    let generation: Int
    /// Whether an earlier call began it, and could not send it.
    var isBegun = false
  }

  let context: SyncContext

  /// Makes a planner.
  package init(_ context: SyncContext) { self.context = context }

  /// The work for a session; nil if there is none.
  ///
  /// - Parameter session: a session of this device.
  /// - Throws: ``Replica/ReplicaError`` with the reason why it is impossible; errors of the store
  ///   and of the local files.
  package func plan(_ session: SessionID) async throws -> Item? {
    let local = LocalSession(context.home, session)
    let (sidecar, _) = try local.sidecar(device: context.device)
    let isRewritten = sidecar.source != nil && sidecar.generation ?? 1 > 1
    let begun =
      try sidecar.seal == nil ? local.loadUploadState(beside: sidecar)?.generation : nil
    let mayDiffer = try isRewritten || local.redaction(sidecar) ?? [] != epochs
    guard sidecar.remoteReapedAt == nil, mayDiffer || begun != nil else { return nil }
    guard sidecar.deviceId == context.device.deviceId else {
      throw ReplicaError(
        .missingBytes,
        "it was sent as device \(sidecar.deviceId), which this home no longer is; "
          + "'tidemark delete --remote' removes that copy")
    }
    let listed = try await listed(session, sidecar)
    let remote = try withoutForeignObjects(listed, sidecar)
    guard mayDiffer || begun.map({ $0 > remote.generation }) == true else { return nil }
    guard sidecar.seal == nil || !sidecar.withholdsLog else {
      guard remote.mark > 0 else { return nil }
      throw ReplicaError(
        .missingBytes, "it ended under consent 'metadata', so that its log is not re-sent")
    }
    try expectWhole(remote, sidecar)
    guard remote.mark > 0 else { return nil }
    let log = try local.openLog(sidecar.source) ?? SealedSource(of: local, context).log(of: sidecar)
    guard let log, try log.afterHoles().available().lowerBound == 0 else { throw Self.incomplete }
    let spans = try context.redaction.spans(epochs)
    let view = log.redacted(by: spans, sidecar.format)
    let cover = remote.cover(upTo: remote.mark)
    if let begun, begun > remote.generation {
      // An attached file may have been rewritten since, to be shorter.
      let rest = try cover.filter { try !$0.isPart(of: view) }
      return Item(
        session: session, segments: rest.count, bytes: rest.map(\.length).total, former: [],
        generation: begun, isBegun: true)
    }
    try expectSent(cover, in: log, of: local, sidecar)
    var masked = MaskedSegments(remote, context)
    let bare = isRewritten ? try await masked.copies(cover) : []
    let changed = try cover.filter { try bare.contains($0) || !$0.matches(view) }
    let former = try await bareFormerStreams(
      sidecar, remote, &masked, isResent: !changed.isEmpty)
    if changed.isEmpty, former.isEmpty { return nil }
    if !former.isEmpty { try expectNoHold(remote) }
    let highest = listed.segments.map(\.generation).max() ?? 1
    return Item(
      session: session, segments: changed.count, bytes: changed.reduce(0) { $0 + $1.length },
      former: former, generation: try SessionState.generation(after: highest, of: session))
  }

  /// A session without objects that decide about former streams, or take the place of what the seal names,
  /// although this home did not put them.
  private func withoutForeignObjects(
    _ listed: RemoteSession, _ sidecar: Sidecar
  ) throws -> RemoteSession {
    let known = try context.knownObjects(sidecar)
    guard !known.isEmpty else { return listed }
    let isSealed = sidecar.seal != nil
    let unknown = RemoteSession(
      folder: listed.folder, session: listed.session, segments: Array(known)
    ).generationsMissing(from: sidecar.former ?? [])
    return listed.keeping { name in
      known.contains(name) || !isSealed && name.generation >= listed.generation
        || unknown.contains(name.generation)
    }
  }

  private static let incomplete = ReplicaError(
    .missingBytes, "its whole log is not on this machine, so that it cannot be re-sent")

  /// The rules in force, from the stream's beginning.
  private var epochs: [Sidecar.RedactionEpoch] {
    [Sidecar.RedactionEpoch(from: 0, rules: context.redaction.version)]
  }

  /// Whether a session that is only in the store was sent under other rules than those in force: its
  /// log is not on this machine, and cannot be redacted.
  ///
  /// - Parameter sent: how much of its log was sent; revisions of open sessions do not say so.
  package func isOutdated(_ sidecar: Sidecar, sent: StreamOffset) -> Bool {
    let rules = Set((sidecar.redaction ?? []).map(\.rules))
    return !sidecar.withholdsLog && max(sent.byteCount, sidecar.fileSizeBytes) > 0
      && rules != [context.redaction.version]
  }

  /// Expects that the store has all that this home knows to be there: what it lacks, or does not list,
  /// may hold what the rules mask.
  private func expectWhole(_ remote: RemoteSession, _ sidecar: Sidecar) throws {
    var sent = StreamOffset.zero
    if let seal = sidecar.seal {
      if seal.store == context.store.location { sent = seal.length }
    } else if let known = try context.manifest.entry(remote.session),
      known.generation == remote.generation
    {
      sent = known.sent
    }
    guard remote.mark < sent else { return }
    throw ReplicaError(
      .missingBytes,
      "the store shows \(remote.mark) of the \(sent) bytes that were sent; 'tidemark verify "
        + "\(remote.session)' says what is missing")
  }

  /// Expects that the local log, which is to take the place of the store's copy, is what was sent, and
  /// that nothing that the new generation copies from is damaged.
  private func expectSent(
    _ cover: [SegmentName], in log: LocalStream, of local: LocalSession, _ sidecar: Sidecar
  ) throws {
    let sent = try local.sent(log, sidecar, context, as: cover).afterHoles()
    for name in cover {
      if sidecar.seal?.logDiffers != true, try name.matches(sent) { continue }
      throw ReplicaError(
        .localLogChanged,
        "its local log does not hold what was sent, between bytes \(name.range.lowerBound) and "
          + "\(name.range.upperBound): sent again, it would replace what only the store has. Put the "
          + "log back from a backup; or 'tidemark delete --remote \(local.session)' removes that copy"
      )
    }
    let damaged = DamagedCopies(of: context)
    if let finding = damaged.finding(of: local.session) {
      throw ReplicaError(.damagedObject, finding)
    }
  }

  /// What the store still has of streams that were given up, because it lost some of them: no rule can
  /// be applied to that; nil if there is nothing.
  ///
  /// - Parameter session: a session of this device.
  /// - Returns: the reason, with the objects, for a person.
  /// - Throws: errors of the store and of the local files.
  package func unchecked(_ session: SessionID) async throws -> String? {
    let (sidecar, _) = try LocalSession(context.home, session).sidecar(device: context.device)
    guard let givenUp = sidecar.givenUp, !givenUp.isEmpty, sidecar.remoteReapedAt == nil else {
      return nil
    }
    let remote = try await listed(session, sidecar)
    let folder = remote.folder
    let left = (remote.segments + remote.damagedSegments.map(\.name)).filter {
      givenUp.contains($0.generation)
    }
    guard !left.isEmpty else { return nil }
    let generations = Set(left.map(\.generation)).sorted().map(String.init)
    let keys = left.map { folder.key + $0.fileName }.sorted()
    let named = keys.prefix(Self.mostNamed).joined(separator: ", ")
    let more = keys.count > Self.mostNamed ? " and \(keys.count - Self.mostNamed) more" : ""
    return
      "generation \(generations.joined(separator: ", ")), which the file held before, was given up when the "
      + "store had lost some of it: what is left of it cannot be checked, and may hold what the rules "
      + "mask. Delete these objects, or the session's copy with 'tidemark delete --remote \(session)': "
      + "\(named)\(more)"
  }

  /// Maximum number of objects to name.
  private static let mostNamed = 5

  private func listed(_ session: SessionID, _ sidecar: Sidecar) async throws -> RemoteSession {
    let folder = SessionFolder(device: sidecar.deviceId, session: session)
    return try await FolderListing(folder, session: session, in: context.store)[session, in: folder]
  }

  /// The number of segments that a redaction of a sealed session replaced and the store still has, or
  /// has again, such as from a backup.
  ///
  /// - Parameter session: a session of this device.
  /// - Throws: errors of the store and of the local files.
  package func replaced(_ session: SessionID) async throws -> Int {
    let (sidecar, _) = try LocalSession(context.home, session).sidecar(device: context.device)
    guard sidecar.seal != nil, sidecar.remoteReapedAt == nil, let first = sidecar.erasesBefore,
      sidecar.deviceId == context.device.deviceId
    else { return 0 }
    let remote = try await listed(session, sidecar)
    let gone = Set(remote.superseded(by: sidecar, put: []).keys)
    return remote.segments.count {
      $0.generation < first && gone.contains(remote.folder.key + $0.fileName)
    }
  }

  /// Makes the next pass delete what a redaction replaced.
  ///
  /// - Throws: errors of the manifest.
  package func recallReplaced(_ session: SessionID, holding lock: HomeLock) throws {
    lock.expect(context.home)
    try context.manifest.recallSuperseded(of: session, due: context.now())
  }

  /// Refuses a session on hold: the deletion of its former streams would lose lines.
  private func expectNoHold(_ remote: RemoteSession) throws {
    guard
      Holds(context.home).isHeld(remote.session, at: context.lived.time)
        || remote.isHeld(at: context.serverNow)
    else { return }
    throw ReplicaError(
      .missingBytes,
      "it is on hold, and what its file held before it was rewritten would be deleted; end the hold "
        + "with 'tidemark keep --release \(remote.session)' first")
  }

  /// What the file held before it was rewritten, where the rules mask something of it, or of an
  /// object that it copies from.
  ///
  /// - Parameter isResent: whether the session is sent again: then a stream that cannot be read
  ///   cannot stay.
  private func bareFormerStreams(
    _ sidecar: Sidecar, _ remote: RemoteSession, _ masked: inout MaskedSegments, isResent: Bool
  ) async throws -> [Sidecar.FormerStream] {
    var found: [Sidecar.FormerStream] = []
    for stream in sidecar.former ?? [] {
      do {
        if try await isBare(stream, of: remote, &masked) { found.append(stream) }
      } catch let error as ReplicaError {
        guard isResent else { throw error }
        found.append(stream)
      }
    }
    return found
  }

  private func isBare(
    _ stream: Sidecar.FormerStream, of remote: RemoteSession, _ masked: inout MaskedSegments
  ) async throws -> Bool {
    var search = MaskSearch(context.redaction.current, .asIs)
    var isMasked = false
    // Also the rest, to know whether all of it can be read.
    try await context.reader.read(remote, generation: stream.generation, upTo: stream.length) {
      if !isMasked { isMasked = !search.add($0).isEmpty }
    }
    guard !isMasked, search.finish().isEmpty else { return true }
    let cover = remote.cover(upTo: stream.length, of: stream.generation)
    return try await !masked.copies(cover).isEmpty
  }

  /// Makes the next pass send the new generation.
  ///
  /// - Throws: errors of the local files and of the manifest.
  package func begin(_ item: Item, holding lock: HomeLock) throws {
    lock.expect(context.home)
    guard !item.isBegun else { return try context.home.mark(item.session) }
    let local = LocalSession(context.home, item.session)
    var (sidecar, _) = try local.sidecar(device: context.device)
    let sent = sidecar
    try context.redaction.keepCurrent()
    // What the file held before and cannot be masked is deleted.
    let kept = (sidecar.former ?? []).filter { !item.former.contains($0) }
    try SealedSource(of: local, context).copy(for: &sidecar)
    guard try local.openLog(sidecar.source) != nil else { throw Self.incomplete }
    // Before the seal goes: without the marker no pass would find the session. If nothing else happens,
    // one finds it sealed.
    try context.home.mark(item.session)
    try local.record(
      epochs, generation: item.generation, keeping: kept.map(\.generation),
      replacing: try local.redaction(sidecar) ?? [])
    if sidecar.source != nil {
      // A rewrite in between must not copy from the segments to be deleted.
      try SentSignature.remove(context.home, item.session, generation: sidecar.generation ?? 1)
      sidecar.generation = item.generation
      sidecar.former = kept.isEmpty ? nil : kept
    }
    // The generation of a session being recorded is the recorder's.
    if sidecar.source != nil || sidecar.seal != nil {
      sidecar.seal = nil
      try sidecar.save(local.files.sidecar)
    }
    if sidecar.source != nil { try local.confirmRedaction() }
    try context.forgetSent(sent)
  }
}

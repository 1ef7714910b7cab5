import ObjectStore
import Platform
import Replica
import SessionLog

/// A session of which no log may leave: revisions of its sidecar tell that it began, that it goes on,
/// and how it ended.
///
/// The log is not read. Where bytes of it were sent before, the revisions say up to where.
extension SessionUpload {
  /// Puts the revision that is due.
  func sendMetadata() async throws {
    var entry = try await namedEntry()
    if item.verdict != nil, let lock = try FileLock.tryExclusive(local.files.lock) {
      defer { withExtendedLifetime(lock) {} }
      try local.compressParts(sidecar.format)
      let (sidecar, isDamaged) = try local.sidecar(device: context.device)
      let (length, modified) =
        try local.openLog(sidecar.source)?.status() ?? (item.length, sidecar.lastUpdatedAt)
      if let verdict = try Verdict.reach(
        sidecar: sidecar, files: local.files, lockGranted: true, machine: context.machine,
        now: context.now(), logModified: modified)
      {
        if isDamaged { try quarantineSidecar() }
        return try await close(sidecar, verdict, length: length, &entry)
      }
    }
    // Somebody goes on with a session that had ended: the next pass sees what it is to be.
    guard context.consent == .metadata else { return }
    if try entry.revision == 0 || local.sentNote()?.consent != .metadata {
      var sidecar = sidecar
      sidecar.clockOffset = context.serverClock.offset?.milliseconds ?? sidecar.clockOffset
      sidecar.fileSizeBytes = item.length.byteCount
      sidecar.redaction = try redactionOfSent(entry)
      try await putRevision(sidecar, length: entry.sent, &entry)
      try local.note(.metadata)
    }
    try context.manifest.save(&entry, of: session)
    // The attacher tells when a foreign file has ended: until then nobody has to look at it.
    if item.verdict == nil, sidecar.source != nil { try local.removeMarker() }
  }

  /// How far the remote has come, as its names tell.
  ///
  /// Whoever sends log bytes later compares them with the log first.
  private func namedEntry() async throws -> ManifestEntry {
    let known = try context.manifest.entry(session)
    if let known, !known.isDirty, known.boot == context.machine.bootId,
      try await isComplete(known, consulting: item.verdict != nil)
    {
      return known
    }
    let remote = try await folders.session(session, in: folder)
    var entry = ManifestEntry(boot: remote.mark == 0 ? context.machine.bootId : "")
    entry.generation = remote.generation
    entry.sent = remote.mark
    entry.revision = remote.revision?.number ?? 0
    entry.hasCutObjects = remote.hasCutObjects
    entry.attempts = known?.attempts ?? 0
    for name in remote.segments { entry.segments[name] = known?.segments[name] ?? false }
    return entry
  }

  private func redactionOfSent(_ entry: ManifestEntry) throws -> [Sidecar.RedactionEpoch]? {
    entry.sent > 0 ? try local.redaction(sidecar)?.filter { $0.from < entry.sent } : nil
  }

  /// Puts the last revision, and marks here that the session is over for the store.
  ///
  /// The caller holds the session's exclusive lock.
  private func close(
    _ sidecar: Sidecar, _ verdict: Verdict, length: StreamOffset, _ entry: inout ManifestEntry
  ) async throws {
    // Should the configuration change before this is done, the session is not taken for another.
    try local.note(.metadata)
    var final = sidecar
    final.consent = .metadata
    final.clockOffset = context.serverClock.offset?.milliseconds ?? sidecar.clockOffset
    final.status = verdict.status
    final.cause = verdict.cause
    final.endedAt = verdict.endedAt
    final.lastUpdatedAt = verdict.endedAt
    final.fileSizeBytes = length.byteCount
    final.redaction = try redactionOfSent(entry)
    final.generation = entry.generation == 1 ? nil : entry.generation
    let objects = remote(entry).cover(upTo: entry.sent, of: entry.generation)
    final.objects = objects.map(\.fileName)
    final.basis = try await basis(of: objects, entry).map(\.fileName)
    let isTidy = entry.hasOnlyFinalObjects
    let name = try await putSeal(final, length: entry.sent, &entry)
    try markSealed(final, by: name, digest: nil, length: entry.sent)
    try SentSignature.remove(context.home, session, generation: entry.generation)
    report(.sealed(session: session, status: final.status, isTidy: isTidy))
  }
}

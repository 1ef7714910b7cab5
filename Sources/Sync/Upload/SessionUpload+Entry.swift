import Delta
import Platform
import Logging
import Replica
import SessionLog

/// What is there of a session, here and on the remote.
extension SessionUpload {
  /// Opens the log; where its foreign file is gone, from where on the home has it.
  ///
  /// Who noted that may not have known of the last bytes that were sent: the remote names tell.
  func openLog() async throws -> LocalStream? {
    let log = try local.openSentLog(sidecar, context)
    guard let source = sidecar.source, source.inode == 0, let length = source.length,
      let log, try context.manifest.entry(session).map(\.isDirty) ?? true
    else { return log }
    let remote = try await folders.session(session, in: folder)
    var end = length
    for segment in remote.cover(upTo: remote.mark) where segment.range.upperBound > end {
      let isRest =
        try segment.range.lowerBound >= end
        && segment.range.upperBound <= log.status().length && segment.matches(log)
      if isRest { break }
      end = segment.range.upperBound
    }
    guard end != length else { return log }
    var (sidecar, _) = try local.sidecar(device: context.device)
    sidecar.source?.length = end
    try sidecar.save(local.files.sidecar)
    return try local.openSentLog(sidecar, context)
  }

  /// The manifest's entry when it can be believed, else one read off the remote names; and the log
  /// by the rules that bind what was sent.
  ///
  /// - Parameter consultsStore: whether the store is listed even then; where it does not have just
  ///   what the manifest knows, its names count.
  func trustedEntry(
    _ log: LocalStream, consulting consultsStore: Bool
  ) async throws -> (LocalStream, ManifestEntry) {
    let (length, _) = try log.status()
    if let known = try context.manifest.entry(session), !known.isDirty,
      known.boot == context.machine.bootId, known.sent == 0 || log.redaction != nil,
      try await isComplete(known, consulting: consultsStore)
    {
      guard try known.generation == wantedGeneration() else { return (log, known) }
      guard length >= known.sent, try isUnchanged(log, known) else {
        throw ReplicaError(
          .localLogChanged,
          "\(log.path) is shorter than, or differs from, the \(known.sent) bytes that were sent")
      }
      return (log, known)
    }
    context.logger.debug(
      "\(session): the manifest cannot be believed, or lacks the session: list the store")
    let remote = try await folders.session(session, in: folder)
    let isNoted = try log.redaction != nil || remote.generation != wantedGeneration()
    let log = try isNoted || remote.mark == 0 ? log : recovered(log, remote)
    return (log, try rebuild(from: remote, log: log, length: length))
  }

  /// Whether the store, where it is consulted, has nothing of the session that the manifest does not
  /// know, and all that the seal would name.
  func isComplete(
    _ known: ManifestEntry, consulting consultsStore: Bool
  ) async throws -> Bool {
    guard consultsStore else { return true }
    let listed = try await folders.session(session, in: folder)
    let needed = remote(known).cover(upTo: known.sent, of: known.generation)
    return listed.segments.allSatisfy { known.segments[$0] != nil }
      && (listed.revision?.number ?? 0) <= known.revision
      && Set(needed).isSubset(of: listed.segments)
  }

  /// Whether what is here of the log is what was sent; what is no longer here cannot differ.
  func isUnchanged(_ log: LocalStream, _ known: ManifestEntry) throws -> Bool {
    let covered = known.sent - ByteCount(known.link.covered)
    guard try log.available().lowerBound <= covered else { return true }
    return try log.link(before: known.sent) == known.link
  }

  private func rebuild(
    from remote: RemoteSession, log: LocalStream, length: StreamOffset
  ) throws -> ManifestEntry {
    var entry = ManifestEntry(boot: context.machine.bootId)
    entry.generation = remote.generation
    entry.sent = remote.mark
    entry.revision = remote.revision?.number ?? 0
    entry.hasCutObjects = remote.hasCutObjects
    let previous = try context.manifest.entry(session)
    entry.isKept = previous != nil
    entry.attempts = previous?.attempts ?? 0
    entry.merged = min(previous?.merged ?? 0, remote.mark)
    for name in remote.segments { entry.segments[name] = previous?.segments[name] ?? false }
    // What is here of the log is what a rewrite makes of it, and not what was sent before.
    guard try remote.generation == wantedGeneration() else { return entry }
    for name in remote.segments(of: remote.generation) {
      let isHere = try log.available().lowerBound <= name.range.lowerBound
      guard name.range.upperBound <= length else {
        throw ReplicaError(
          .localLogChanged,
          "the store has \(session) up to byte \(remote.mark), \(log.path) ends at byte \(length): "
            + "it lost its end, or was restored from a backup. Nothing is sealed or deleted; "
            + "'tidemark show --remote \(session)' has the rest")
      }
      guard try !isHere || name.matches(log) else {
        throw ReplicaError(
          .localLogChanged,
          "\(folder.key)\(name.fileName) does not hold what \(log.path) has there")
      }
    }
    entry.link = try log.link(before: entry.sent)
    return entry
  }
}

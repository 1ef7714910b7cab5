import Delta
import Foundation
import ObjectStore
import Platform
import Replica
import SessionLog

/// A session whose log is complete, but perhaps not yet durable.
struct FetchedSession: Sendable {
  let item: Puller.Item
  let sidecar: Sidecar
  let json: [UInt8]
  /// A replaced log that has other bytes; nil if none was kept.
  var kept: Puller.KeptLog?
  /// Why a former stream was not fetched; nil if all are there.
  var problem: ReplicaError?

  /// Whether there is a log: if none was sent, only the sidecar is mirrored.
  var hasLog: Bool { !sidecar.withholdsLog || item.length > 0 }
}

/// Fetches what a mirror lacks of one session: its log, and what the file held before it was
/// rewritten, `<session>.g<generation>.log`.
struct SessionFetch: Sendable {
  let store: any ObjectStore
  let mirror: MirrorFolder
  /// The keys that revisions must be signed with; nil to skip that check.
  let keys: KnownKeys?
  let space: FreeSpace
  /// Whether to delete logs of an earlier generation that were redacted, once the redacted one is
  /// sealed.
  let replacesFormer: Bool
  let limit: UnpackLimit

  /// Fetches the bytes that one session's log lacks.
  ///
  /// Compares a sealed session's log with the digest in its sidecar, and fetches it again, once, if
  /// it differs.
  ///
  /// - Throws: ``Replica/ReplicaError``, also if the store shows less than the mirror has, or no
  ///   sidecar.
  func run(_ item: Puller.Item, report: (ByteCount) -> Void) async throws -> FetchedSession? {
    if let refusal = item.refusal { throw ReplicaError(.missingBytes, refusal) }
    if let refusal = limit.refusal(of: item.missing, from: item.stored) {
      throw ReplicaError(
        .tooLong,
        "the log, of which \(item.missing) bytes are missing in the mirror, is not fetched: \(refusal); "
          + "'tidemark pull --max-size' says how large it may be")
    }
    let files = MirroredFiles(
      of: item.remote.session, in: try mirror.makeDay(item.remote.folder))
    let accepted = try await RemoteReader(store, knowing: keys).accept(item.remote)
    guard let sidecar = accepted.sidecar else { return nil }
    let mirrored = try mirroredSidecar(files)
    try checkSignature(of: sidecar, item, mirrored)
    try expectSuccessor(sidecar, item, to: mirrored)
    let remote = try accepted.session()
    let digest = remote.contents?.digest
    guard item.mirrored <= item.length || digest != nil || item.isRewritten else {
      throw ReplicaError(.missingBytes, item.shortage)
    }
    var fetched = FetchedSession(item: item, sidecar: sidecar, json: accepted.json)
    guard fetched.hasLog else { return fetched }
    if item.present == item.mirrored, item.mirrored <= item.length {
      do {
        if try await append(item, of: remote, to: files, digest, report) {
          try await fetchFormer(of: remote, to: files, &fetched, report)
          return fetched
        }
      } catch is ReplicaError where digest != nil && item.mirrored > 0 {
        // The mirror's own bytes may be wrong: fetch all, and let the digest decide.
      }
    }
    fetched.kept = try await replace(item, with: remote, in: files, report)
    try await fetchFormer(of: remote, to: files, &fetched, report)
    return fetched
  }

  /// The sidecar that the mirror has; nil without one, and for a damaged one or a link, which are replaced.
  ///
  /// - Throws: ``Platform/SystemError`` if it cannot be read: what it says is not known.
  private func mirroredSidecar(_ files: MirroredFiles) throws -> Sidecar? {
    let bytes: [UInt8]
    do {
      bytes = try files.sidecarBytes()
    } catch let error as SystemError where error.errno == SystemError.Number.tooManyLinks {
      return nil
    }
    return try? Sidecar(json: bytes)
  }

  /// Rejects a revision without a signature where the mirror has a signed one: a device that signed
  /// a session once signs all its later revisions, although the session began before its key.
  private func checkSignature(
    of sidecar: Sidecar, _ item: Puller.Item, _ mirrored: Sidecar?
  ) throws {
    guard keys != nil, sidecar.signature == nil, mirrored?.signature != nil else { return }
    let device = item.remote.folder.device
    throw ReplicaError(
      .damagedObject,
      "\(item.remote.revision?.fileName ?? "its sidecar") is not signed, but device \(device) has "
        + "signed the revision in the mirror: somebody else may have written it. 'tidemark verify "
        + "--repair \(item.remote.session)' on that device sends what its local log has, and seals it "
        + "again; the mirror keeps what it has")
  }

  /// Rejects a revision that is older than the mirror's seal, or of an earlier generation: what a device
  /// has signed stays valid, and somebody may have put it back, with other objects.
  ///
  /// An older seal with the same digest changes nothing of the log.
  private func expectSuccessor(
    _ sidecar: Sidecar, _ item: Puller.Item, to mirrored: Sidecar?
  ) throws {
    guard let revision = item.remote.revision, let mirrored else { return }
    let isOfOldGeneration = revision.generation < mirrored.generation ?? 1
    let isBeforeSeal =
      mirrored.status != .active && revision.number < RevisionName.leastNumber(of: mirrored)
      && sidecar.digest != mirrored.digest
    guard isOfOldGeneration || isBeforeSeal else { return }
    throw ReplicaError(
      .missingBytes,
      "kept: \(revision.fileName) is older than what the mirror has: somebody may have put it back. "
        + "If the device lost its store and has sent the session again, move the mirror's files "
        + "of it away, and pull again")
  }

  /// Appends the bytes that the mirror's log lacks.
  ///
  /// Bytes fetched before the store broke off are kept, like those left by a killed process: they
  /// are a prefix of the stream. After any other failure, the log is restored.
  ///
  /// - Parameter digest: the whole stream's digest, if known.
  /// - Returns: whether the log has this digest then; false if another user owns it.
  private func append(
    _ item: Puller.Item, of remote: RemoteSession, to files: MirroredFiles, _ digest: String?,
    _ report: (ByteCount) -> Void
  ) async throws -> Bool {
    var watch = try watch(item, promising: item.length - item.mirrored, in: files)
    let log = try MirrorFile(appendingTo: files.log, in: files.folder)
    if try log.isForeign() { return false }
    guard try log.length() == Int64(item.mirrored) else {
      throw SystemError(
        operation: "append, as another process has changed it, to",
        path: files.folder.path(of: files.log),
        errno: SystemError.Number.again)
    }
    do {
      let before = try log.bytes(before: Int64(item.mirrored), count: Link.span)
      try await RemoteReader(store, knowing: keys).read(
        remote, from: item.mirrored, after: before, upTo: item.length
      ) { piece in
        try watch.count(piece.count)
        try log.append(piece)
        report(ByteCount(piece.count))
      }
    } catch {
      if !(error is StoreError), !(error is CancellationError) {
        try log.undo(to: Int64(item.mirrored))
      }
      throw error
    }
    // The reader verifies a log that it reads from the start.
    guard let digest, item.mirrored > 0, try files.digest() != digest else { return true }
    try log.undo(to: Int64(item.mirrored))
    return false
  }

  /// Fetches the whole log, and replaces the mirror's.
  ///
  /// - Returns: the mirror's old log, kept because the new one lacks bytes of it; nil if it is not
  ///   kept.
  private func replace(
    _ item: Puller.Item, with remote: RemoteSession, in files: MirroredFiles,
    _ report: (ByteCount) -> Void
  ) async throws -> Puller.KeptLog? {
    var watch = try watch(item, promising: item.length.byteCount, in: files)
    let log = try MirrorReplacement(of: files.log, in: files.folder)
    try await RemoteReader(store, knowing: keys).read(remote, upTo: item.length) { piece in
      try watch.count(piece.count)
      try log.append(piece)
      report(ByteCount(piece.count))
    }
    let isFormer = item.mirroredGeneration != remote.generation
    let isRedacted = isFormer && deletesFormer(remote)
    let path = try log.commit(
      keepingOldAs: isRedacted ? nil : files.earlier(item.mirroredGeneration),
      isDamaged: !isFormer && files.isDamaged())
    return path.map { Puller.KeptLog(path: $0, isOfOtherGeneration: isFormer) }
  }

  private func watch(
    _ item: Puller.Item, promising bytes: ByteCount, in files: MirroredFiles
  ) throws -> FreeSpace.Watch {
    try space.watch(bytes, in: files.folder.path, for: item.remote.session.description)
  }

  // MARK: Former streams

  /// Fetches the former streams that the mirror lacks, and removes those that were redacted.
  ///
  /// If one cannot be read, that is the session's problem; the others, and the newest stream, are
  /// mirrored regardless.
  ///
  /// - Throws: errors of the store and of the local files.
  private func fetchFormer(
    of remote: RemoteSession, to files: MirroredFiles, _ fetched: inout FetchedSession,
    _ report: (ByteCount) -> Void
  ) async throws {
    for stream in fetched.sidecar.former ?? [] where try !files.has(stream, sealedIn: remote) {
      do {
        let path = try await fetch(stream, of: remote, to: files, report)
        fetched.kept =
          fetched.kept ?? path.map { Puller.KeptLog(path: $0, isOfOtherGeneration: false) }
      } catch let error as ReplicaError {
        fetched.problem = fetched.problem ?? error
      }
    }
    if deletesFormer(remote) {
      try files.removeUnlisted(fetched.sidecar, upTo: remote.generation)
    }
  }

  /// Whether logs of earlier generations are deleted: what takes the place of a redacted one is known
  /// once it is sealed.
  private func deletesFormer(_ remote: RemoteSession) -> Bool {
    replacesFormer && remote.seal != nil
  }

  /// Fetches a former stream.
  ///
  /// - Returns: the path of the mirror's copy with other bytes; nil if there was none.
  private func fetch(
    _ stream: Sidecar.FormerStream, of remote: RemoteSession, to files: MirroredFiles,
    _ report: (ByteCount) -> Void
  ) async throws -> String? {
    let stored = remote.segments(of: stream.generation).map(\.stored).total
    if let refusal = limit.refusal(of: stream.length.byteCount, from: stored) {
      throw ReplicaError(
        .tooLong,
        "what the file held until \(stream.until), \(stream.length) bytes, is not fetched: \(refusal); "
          + "'tidemark pull --max-size' says how large it may be")
    }
    var watch = try space.watch(
      stream.length.byteCount, in: files.folder.path, for: remote.session.description)
    let log = try MirrorReplacement(of: files.former(stream.generation), in: files.folder)
    try await RemoteReader(store, knowing: keys).read(
      remote, generation: stream.generation, upTo: stream.length
    ) { piece in
      try watch.count(piece.count)
      try log.append(piece)
      report(ByteCount(piece.count))
    }
    return try log.commit(keepingOldAs: files.earlier(stream.generation))
  }
}

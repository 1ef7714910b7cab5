import Foundation
import ObjectStore
package import Platform
package import Replica
package import SessionLog

/// Verifies that a session's remote copy is complete and, if the local log is still there, equal to
/// it.
package struct Verifier: Sendable {
  /// The result for one session.
  package struct Finding: Sendable {
    /// The session.
    package let session: SessionID
    /// Stream bytes compared.
    package let bytes: ByteCount
    /// Whether a local log was compared as well.
    package let comparedLocally: Bool
    /// Last bytes of the stream that the local log has lost, for example in a power cut; the store
    /// has them.
    package let lostLocally: ByteCount
    /// Whether the log was not sent, or not beyond these bytes, because of the consent.
    package let isLogWithheld: Bool
    /// Last bytes of the local log that wait for an upload: the rest of an open session, or of an ended
    /// one of which a pass has sent only a part.
    package let waiting: ByteCount
    /// The problem; nil if there is none.
    package let problem: String?
  }

  let context: SyncContext

  /// Makes a verifier.
  package init(_ context: SyncContext) { self.context = context }

  /// Reads a whole session back.
  ///
  /// - Parameters:
  ///   - remote: the session in a listing.
  ///   - isDeep: whether to read whole objects even if deltas copy only parts of them.
  /// - Throws: errors of the store and of the local files; contradictions are findings.
  package func verify(_ remote: RemoteSession, deeply isDeep: Bool = false) async throws -> Finding
  {
    let local = LocalSession(context.home, remote.session)
    // The local log says nothing about another device's session with the same id.
    let isOwn = try context.isOwn(remote.deviceSession)
    let sidecar =
      try isOwn
      ? local.sidecar(device: context.device).sidecar
      : Sidecar.reconstructed(
        id: remote.session, device: context.device, owner: remote.folder.device, status: .active)
    var here: StreamOffset = .max
    do {
      let changed = try isOwn ? changedLog(of: local, sidecar) : nil
      let isComparable = isOwn && changed == nil
      let log =
        try isComparable
        ? local.openSentLog(sidecar, context, sentAs: remote.segments(of: remote.generation))?
          .afterHoles() : nil
      here = try log?.available().lowerBound ?? .max
      // Before the first revision, only the local log shows which bytes are the device's.
      let isKnown = remote.revision == nil && here == 0
      try expectSeal(of: sidecar, in: remote)
      try await expectRevision(of: remote)
      try await expectTail(of: remote)
      let reader = RemoteReader(context.store, knowing: isKnown ? nil : context.keys)
      let accepted = try await reader.accept(remote)
      let (said, sealed) = (accepted.sidecar, try accepted.session())
      let isWithheld = said?.withholdsLog == true
      let length = try expectedLength(sealed, isWithheld: isWithheld)
      let end = try log?.status().length ?? .zero
      var position = StreamOffset.zero
      // What a file held once it was rewritten under consent 'metadata' was not to be sent.
      let mayDiffer = said?.withholdsLog == true && sidecar.source != nil
      try await reader.read(sealed, upTo: length) { piece in
        let next = position + ByteCount(piece.count)
        if let log, here <= position, position < end {
          let known = UnsafeRawBufferPointer(rebasing: piece.prefix(Int(min(end, next) - position)))
          do {
            try Self.compare(known, at: position, with: log)
          } catch let error as ReplicaError where error.code == .localLogChanged {
            guard mayDiffer else { throw error }
            here = .max
          }
        }
        position = next
      }
      try expectFormer(said?.former ?? [], in: sealed)
      if isDeep {
        try await readBasis(said?.basis ?? [], of: remote)
        // Revisions of an open session do not name the objects of its former streams.
        for stream in remote.seal == nil ? said?.former ?? [] : [] {
          try await reader.read(
            sealed, generation: stream.generation, upTo: stream.length
          ) { _ in }
        }
      }
      if let changed { throw ReplicaError(.localLogChanged, changed) }
      if isWithheld { try expectSent(sealed, length) }
      let waiting =
        try isWithheld || log == nil ? 0 : compareEnd(end, of: remote, length, sidecar)
      let isCut = log != nil && remote.seal != nil && end < length
      return Finding(
        session: remote.session, bytes: length.byteCount, comparedLocally: here == 0,
        lostLocally: isCut && !isWithheld ? length - end : 0, isLogWithheld: isWithheld,
        waiting: waiting, problem: nil)
    } catch let error as ReplicaError {
      return Finding(
        session: remote.session, bytes: 0, comparedLocally: here == 0, lostLocally: 0,
        isLogWithheld: false, waiting: 0, problem: error.detail)
    }
  }

  /// Expects a sidecar of a session that is not sealed, if this home has put one: without it others
  /// do not accept its bytes.
  private func expectRevision(of remote: RemoteSession) async throws {
    guard remote.revision == nil, remote.folder.device == context.device.deviceId,
      let known = try context.manifest.entry(remote.session), known.revision > 0
    else { return }
    // It may be newer than the listing.
    let now = try await FolderListing(remote.folder, session: remote.session, in: context.store)
    guard now[remote.session, in: remote.folder].revision == nil else { return }
    throw ReplicaError(
      .missingBytes,
      "its sidecar, which was sent, is not there any more: no other machine accepts its bytes without "
        + "it")
  }

  /// Expects what this home has put of an open session since its newest revision.
  private func expectTail(of remote: RemoteSession) async throws {
    let end = remote.end
    guard remote.seal == nil, remote.folder.device == context.device.deviceId,
      let known = try context.manifest.entry(remote.session),
      known.generation == remote.generation, known.sent > end
    else { return }
    let tail = known.segments.keys.filter { name in
      name.generation == remote.generation && name.range.upperBound > end
    }
    for name in tail.sorted(by: { $0.range.lowerBound < $1.range.lowerBound }) {
      do {
        // It may be newer than the listing.
        _ = try await context.store.head(remote.folder.key + name.fileName)
      } catch let error as StoreError where error.isNotFound {
        // Or was replaced by a larger one.
        let now = try await FolderListing(remote.folder, session: remote.session, in: context.store)
        let mark = now[remote.session, in: remote.folder].mark(of: name.generation)
        guard mark < name.range.upperBound else { continue }
        throw ReplicaError(
          .missingBytes,
          "bytes \(max(end, name.range.lowerBound)) to \(name.range.upperBound) of it, which were sent, "
            + "are not there: \(remote.folder.key)\(name.fileName)")
      }
    }
  }

  /// Expects what was sent of a log before the consent withheld the rest.
  private func expectSent(_ remote: RemoteSession, _ length: StreamOffset) throws {
    guard let stated = remote.revision?.length, length < stated else { return }
    throw ReplicaError(
      .missingBytes,
      "bytes \(length) to \(stated) of it, sent before the consent withheld the rest, are not there: "
        + "put the objects back from a backup or the bucket's versions")
  }

  /// Expects what was sent before the file was rewritten.
  private func expectFormer(
    _ streams: [Sidecar.FormerStream], in remote: RemoteSession
  ) throws {
    for stream in streams {
      let mark = remote.mark(of: stream.generation)
      guard mark < stream.length else { continue }
      throw ReplicaError(
        .missingBytes,
        "bytes \(mark) to \(stream.length) of generation \(stream.generation), which the file held until "
          + "\(stream.until), are not there, and nothing else has them: put the objects back from a "
          + "backup or the bucket's versions")
    }
  }

  /// What is to be known of a local log that no longer holds what was sent; nil for any other.
  func changedLog(of local: LocalSession, _ sidecar: Sidecar) throws -> String? {
    guard let seal = sidecar.seal, seal.logDiffers == true, try local.openLog(nil) != nil
    else { return nil }
    return "the \(Sidecar.Seal.changedLogText)"
  }

  /// What is to be known of a recorded session's log that somebody changed after it was sent; nil for
  /// any other.
  func editedLog(of local: LocalSession, _ sidecar: Sidecar) throws -> String? {
    let isSealed = sidecar.seal != nil
    // Of a session that is not sealed nothing can be compared before its rules are known.
    guard sidecar.source == nil, !sidecar.withholdsLog,
      try isSealed || local.redaction(sidecar)?.isEmpty == false,
      let log = try local.openSentLog(sidecar, context)?.afterHoles()
    else { return nil }
    let (here, known) = (try log.available(), try context.knownObjects(sidecar))
    let generation = isSealed ? known.map(\.generation).max() : try local.generation(sidecar)
    for name in known.sorted(by: { $0.range.lowerBound < $1.range.lowerBound })
    where name.generation == generation && name.range.clamped(to: here) == name.range {
      // One that cannot be read is not sent, and says so.
      guard let isSame = try? name.matches(log), !isSame else { continue }
      let range = "bytes \(name.range.lowerBound) and \(name.range.upperBound)"
      let next =
        isSealed ? "" : " Once the session has ended, an upload seals it as it was sent."
      return
        "\(log.path) was changed after it was \(isSealed ? "sealed" : "sent"), between \(range): it "
        + "cannot mend this copy.\(next) Put the objects, or the log, back from a backup or the "
        + "bucket's versions; 'tidemark import \(log.path.shellWord)' sends what it has now as another session"
    }
    return nil
  }

  private func readBasis(_ names: [String], of remote: RemoteSession) async throws {
    for name in names {
      guard let segment = SegmentName(name) else {
        throw ReplicaError(
          .damagedObject, "the seal of \(remote.session) names '\(ReplicaError.name(name))'")
      }
      do {
        try await context.reader.read(segment, in: remote.folder) { _ in }
      } catch let error as StoreError where error.isNotFound {
        throw ReplicaError(.missingBytes, "\(name) is not there any more")
      }
    }
  }

  /// Expects the seal that this home put: without it, nothing says where the stream ends, and
  /// retention never deletes the local copy.
  private func expectSeal(of sidecar: Sidecar, in remote: RemoteSession) throws {
    guard remote.hasContent else {
      throw ReplicaError(.missingBytes, "nothing of \(remote.session) is there")
    }
    guard let seal = sidecar.seal, seal.store == context.store.location,
      sidecar.remoteReapedAt == nil, remote.seal?.fileName != seal.revision
    else { return }
    let name = remote.folder.key + seal.revision
    let isThere = remote.revisions.contains { $0.fileName == seal.revision }
    let newest = remote.revision?.fileName
    throw ReplicaError(
      .missingBytes,
      isThere
        ? "its seal, \(name), no longer counts: \(newest ?? "another one") is newer"
        : "its seal, \(name), is not there any more"
          + (newest.map { "; the newest sidecar is \($0)" } ?? ""))
  }

  /// The length that the store's copy should have: an open session's newest revision was put once
  /// everything before that was there.
  private func expectedLength(
    _ remote: RemoteSession, isWithheld: Bool
  ) throws -> StreamOffset {
    if let seal = remote.seal { return seal.length }
    guard
      let damaged = remote.damagedSegments.first(where: {
        $0.name.generation == remote.generation && $0.name.range.upperBound > remote.mark
      })
    else { return isWithheld ? remote.end : max(remote.end, remote.revision?.length ?? 0) }
    throw ReplicaError(
      .damagedObject, "\(damaged.name) has \(damaged.found) bytes, not what its name says")
  }

  /// Verifies that the local log does not extend beyond the sealed stream or, once it has ended,
  /// beyond what the store has, unless passes still visit it.
  ///
  /// - Returns: the bytes that the next passes send.
  private func compareEnd(
    _ end: StreamOffset, of remote: RemoteSession, _ length: StreamOffset, _ sidecar: Sidecar
  ) throws -> ByteCount {
    if end < length, remote.seal == nil, try sidecar.source == nil || hasForeignEnd(remote) {
      throw ReplicaError(
        .localLogChanged,
        "the store has \(length) bytes of it, and the local log ends at byte \(end): it lost its end, "
          + "or somebody else has put the rest")
    }
    guard end > length else { return 0 }
    if remote.seal != nil {
      throw ReplicaError(
        .localLogChanged,
        "the local log of \(remote.session) has \(end) bytes, its seal says \(length)")
    }
    guard context.consent == .logs else { return 0 }
    // An open session is sent up to its last tick, an ended one up to where a pass had to stop.
    let isVisited =
      sidecar.seal == nil && File.exists(context.home.files(for: remote.session).marker)
    if sidecar.status == .active || isVisited { return end - length }
    let elsewhere = sidecar.seal.map { "; it was sealed in \($0.store)" } ?? ""
    throw ReplicaError(
      .missingBytes,
      "no seal of it is there, and only \(length) of the local log's \(end) bytes\(elsewhere)")
  }

  /// Whether the store has more of an attached log than this home has sent.
  private func hasForeignEnd(_ remote: RemoteSession) throws -> Bool {
    guard let entry = try context.manifest.entry(remote.session), !entry.isDirty else {
      return false
    }
    return entry.generation == remote.generation && entry.sent < remote.mark
  }

  private static func compare(
    _ piece: UnsafeRawBufferPointer, at position: StreamOffset, with log: LocalStream
  ) throws {
    let same = try log.read(position..<(position + ByteCount(piece.count))).withUnsafeBytes {
      $0.elementsEqual(piece)
    }
    guard same else {
      throw ReplicaError(
        .localLogChanged,
        "the local and the remote log differ between bytes \(position) and "
          + "\(position + ByteCount(piece.count))")
    }
  }
}

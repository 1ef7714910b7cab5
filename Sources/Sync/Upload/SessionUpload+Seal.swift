import Crypto
import Delta
import LogRecords
import ObjectStore
import Platform
import Replica
import SessionLog

extension SessionUpload {
  /// Seals a session whose every byte has been sent: proof, seal revision, local mark.
  ///
  /// The caller holds the session's exclusive lock.
  ///
  /// - Parameter tally: what sending the stream has shown of it; nil when nothing has.
  func seal(
    _ log: LocalStream, sidecar: Sidecar, verdict: Verdict, length: StreamOffset,
    tally: StreamTally?,
    _ entry: inout ManifestEntry
  ) async throws {
    let objects = remote(entry).cover(upTo: length, of: entry.generation)
    guard objects.last?.range.upperBound ?? 0 == length else {
      throw ReplicaError(.missingBytes, "\(session) was not sent as far as \(length)")
    }

    var final = sidecar
    var tally =
      try tally
      ?? StreamTally(
        RecordReader(sidecar.format, reference: log.status().modified))
    try await prove(objects, of: log, &tally, &entry)
    tally.finish()
    let digest = tally.digest
    final.consent = nil
    final.categories = tally.statistics.categoryNames
    final.levels = tally.statistics.levelCounts
    final.clockOffset = context.serverClock.offset?.milliseconds ?? sidecar.clockOffset
    final.status = verdict.status
    final.cause = verdict.cause
    if verdict.status == .crashed {
      let lines = try log.lastLines(upTo: length)
      final.crash = Sidecar.Crash(core: sidecar.crash?.core, lines: lines)
    }
    final.endedAt = verdict.endedAt
    final.lastUpdatedAt = verdict.endedAt
    final.fileSizeBytes = length.byteCount
    final.digest = digest
    final.redaction = log.redaction
    final.redacted = try log.redactions(upTo: length)
    final.objects = objects.map(\.fileName)
    final.basis = try await basis(of: objects, entry).map(\.fileName)
    final.generation = entry.generation == 1 ? nil : entry.generation

    let isTidy = entry.hasOnlyFinalObjects
    let name = try await putSeal(final, length: length, &entry)
    try markSealed(final, by: name, digest: digest, length: length)
    try SentSignature.remove(context.home, session, generation: entry.generation)
    report(.sealed(session: session, status: final.status, isTidy: isTidy))
  }

  /// Saves what this home knows of a seal that was put.
  ///
  /// - Parameters:
  ///   - sidecar: what the seal says.
  ///   - name: the seal.
  ///   - digest: SHA-256 of the stream; nil where the log was not sent, or not whole.
  ///   - length: stream bytes that the store has.
  func markSealed(
    _ sidecar: Sidecar, by name: RevisionName, digest: String?, length: StreamOffset
  ) throws {
    var sidecar = sidecar
    sidecar.seal = Sidecar.Seal(
      store: context.store.location, revision: name.fileName, sealedAt: context.now(),
      digest: digest, length: length)
    sidecar.agesFrom = context.lived.time.mark
    sidecar.remoteReapedAt = nil
    sidecar.erasesBefore = try local.sentNote()?.generation
    // The uploader makes it durable together with those of the other sessions, and then settles it.
    try sidecar.saveForNow(local.files.sidecar)
  }

  /// Puts the seal, or finds the one that a pass put which died before its local mark.
  func putSeal(
    _ sidecar: Sidecar, length: StreamOffset, _ entry: inout ManifestEntry
  ) async throws -> RevisionName {
    let json = try revisionJSON(sidecar, entry)
    var name = RevisionName(
      session: session, number: entry.revision, status: sidecar.status,
      generation: entry.generation, length: length, json: json)
    var isProven = false
    if try await folders.known(session, in: folder)?.seal != name {
      (name, isProven) = try await putRevision(json, sidecar.status, length: length, &entry)
    }
    let key = folder.key + name.fileName
    if isProven { return name }
    if try await context.store.get(key) == json { return name }
    _ = try await context.store.put(key, json)
    guard try await context.store.get(key) == json else {
      throw ReplicaError(.damagedObject, "\(key) was stored twice with other bytes than were sent")
    }
    return name
  }

  /// Proves every object that the store did not prove when it was put, by reading it back once, and
  /// counts what the tally lacks.
  private func prove(
    _ objects: [SegmentName], of log: LocalStream, _ tally: inout StreamTally,
    _ entry: inout ManifestEntry
  ) async throws {
    let here = try log.available().lowerBound
    for name in objects {
      guard here <= name.range.lowerBound else {
        // The file that these bytes came from is gone: their object, checked by its name, is them.
        let isNew = tally.end <= name.range.lowerBound
        try await RemoteReader(context.store).read(name, in: folder) {
          if isNew { tally.add($0) }
        }
        continue
      }
      try count(name, of: log, &tally)
      if entry.segments[name] != true {
        switch name.kind {
        case .plain: try await readBack(name, log)
        case .delta: try await readBackDelta(name, log)
        }
        entry.segments[name] = true
      }
    }
  }

  /// Counts what the tally lacks of a segment, and finds out whether the log still has what was sent
  /// as it; what was sent in this pass has been counted.
  private func count(_ name: SegmentName, of log: LocalStream, _ tally: inout StreamTally) throws {
    guard tally.end < name.range.upperBound else { return }
    let counted = max(tally.end, name.range.lowerBound)
    let beginsStream = name.range.lowerBound == 0
    var own = SHA256()
    if !beginsStream {
      try log.forEachPiece(of: name.range.lowerBound..<counted) { own.update(bufferPointer: $0) }
    }
    try log.forEachPiece(of: counted..<name.range.upperBound) {
      if !beginsStream { own.update(bufferPointer: $0) }
      tally.add($0)
    }
    let digest = beginsStream ? tally.digest : Hex.text(own.finalize())
    guard digest.hasPrefix(name.hash) else {
      throw ReplicaError(
        .localLogChanged, "\(log.path) differs from what was sent as \(folder.key)\(name)")
    }
  }

  /// Compares an object with the local log; one that was damaged on its way is put once more.
  func readBack(_ name: SegmentName, _ log: LocalStream) async throws {
    let key = folder.key + name.fileName
    if try await isWhole(key, name, log) { return }
    try await context.bodies.hold(Int(clamping: name.stored)) { _ in
      guard let again = try await encodeAgain(name, log) else {
        throw ReplicaError(
          .damagedObject, "\(key) holds other bytes than \(log.path), and cannot be made again")
      }
      _ = try await context.store.put(key, again.body)
    }
    guard try await isWhole(key, name, log) else {
      throw ReplicaError(
        .damagedObject, "\(key) was stored twice with other bytes than were sent")
    }
  }

  /// Makes a segment once more, as it was made before or after the log was rotated.
  private func encodeAgain(_ name: SegmentName, _ log: LocalStream) async throws -> EncodedSegment?
  {
    for frameLength in Set([SegmentEncoder.frameLength, context.objectLimit.frameLength]) {
      for takesFrames in [true, false] {
        let again = try await lane.encode(
          log, session: session, generation: name.generation, range: name.range, storedLimit: .max,
          frameLength: frameLength, format: sidecar.format, takesFrames: takesFrames)
        if again.name == name { return again }
      }
    }
    return nil
  }

  /// Compares what a delta and its basis make with the local log; where they do not make it, a new
  /// generation without a basis has to take their place.
  private func readBackDelta(_ name: SegmentName, _ log: LocalStream) async throws {
    var position = name.range.lowerBound
    do {
      try await RemoteReader(context.store).read(name, in: folder) { piece in
        let end = position + ByteCount(piece.count)
        guard try log.has(piece, in: position..<end) else {
          throw ReplicaError(.damagedObject, "\(folder.key)\(name) makes other bytes")
        }
        position = end
      }
    } catch let error as ReplicaError {
      try SentSignature.remove(context.home, session, generation: name.generation)
      throw ReplicaError(.localLogChanged, "\(error)")
    }
  }

  private func isWhole(_ key: String, _ name: SegmentName, _ log: LocalStream) async throws -> Bool
  {
    try await context.bodies.hold(Int(clamping: name.stored)) { _ in
      let object: [UInt8]
      do {
        object = try await context.store.get(key)
      } catch let error as StoreError where error.isNotFound {
        return false
      }
      return try await lane.isWhole(object, of: name, in: log)
    }
  }
}

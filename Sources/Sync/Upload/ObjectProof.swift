import Crypto
import Delta
import Logging
import ObjectStore
import Platform
import Replica
import SessionLog

/// Proves that objects hold the local log's bytes, and replaces those that do not.
struct ObjectProof {
  let writer: RemoteWriter

  init(_ writer: RemoteWriter) { self.writer = writer }

  private var context: SyncContext { writer.context }

  /// Proves all objects that hold the stream up to an offset; reads back, once, those that the
  /// store did not prove when they were put.
  ///
  /// - Parameters:
  ///   - end: the stream's length.
  ///   - tally: updated with the stream bytes it lacks.
  /// - Returns: the objects, in order.
  func prove(
    upTo end: StreamOffset, _ tally: inout StreamTally, _ state: inout SessionState
  ) async throws -> [SegmentName] {
    // What a verification found damaged since is read back, also if the store proved it when it was put.
    let damaged = DamagedCopies(of: context)
    if damaged.has(state.session) {
      state.entry.segments = state.entry.segments.mapValues { _ in false }
    }
    while true {
      let objects = writer.remote(state).cover(upTo: end, of: state.entry.generation)
      guard objects.last?.range.upperBound ?? 0 == end else {
        throw ReplicaError(.missingBytes, "\(state.session) was not sent as far as \(end)")
      }
      var isReplaced = false
      for name in objects {
        if try await prove(name, &tally, &state) { continue }
        try await replace(name, &state)
        isReplaced = true
      }
      if !isReplaced { return objects }
    }
  }

  /// - Returns: false if the object is damaged and cannot be recreated as it was.
  private func prove(
    _ name: SegmentName, _ tally: inout StreamTally, _ state: inout SessionState
  ) async throws -> Bool {
    let log = try state.requireView()
    guard try log.available().lowerBound <= name.range.lowerBound else {
      // The file behind these bytes is gone: the object, checked against its name, takes its place.
      let isNew = tally.end <= name.range.lowerBound
      try await context.reader.read(name, of: writer.remote(state)) {
        if isNew { tally.add($0) }
      }
      return true
    }
    try count(name, of: log, &tally)
    if state.entry.segments[name] == true { return true }
    switch name.kind {
    case .plain: guard try await isReadBack(name, log, state.sidecar) else { return false }
    case .delta: try await readBackDelta(name, log, state)
    }
    state.entry.segments[name] = true
    return true
  }

  /// Adds a segment to the tally and checks that the log still matches it; segments sent in this
  /// pass were added already.
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
        .localLogChanged, "\(log.path) differs from what was sent as \(writer.folder.key)\(name)")
    }
  }

  /// Compares an object with the local log; puts one that was damaged in transit once more.
  ///
  /// - Throws: ``ReplicaError`` if that does not help.
  func readBack(_ name: SegmentName, _ log: LocalStream, _ sidecar: Sidecar) async throws {
    guard try await isReadBack(name, log, sidecar) else {
      throw ReplicaError(
        .damagedObject,
        "\(writer.folder.key)\(name.fileName) holds other bytes than \(log.path), and cannot be made "
          + "again")
    }
  }

  /// - Returns: false if the object is damaged and cannot be recreated as it was.
  private func isReadBack(
    _ name: SegmentName, _ log: LocalStream, _ sidecar: Sidecar
  ) async throws -> Bool {
    let key = writer.folder.key + name.fileName
    if try await isWhole(key, name, log) { return true }
    let isMadeAgain = try await context.bodies.withUnits(Int(clamping: name.stored)) { _ in
      guard let again = try await encodeAgain(name, log, sidecar) else { return false }
      do {
        _ = try await context.store.put(key, again.body)
      } catch let error as StoreError where RemoteWriter.mayMeanTaken(error) {
        // The name is write-once and its object damaged: put the bytes under another name.
        guard (try? await context.store.head(key)) != nil else { throw error }
        return false
      }
      return true
    }
    guard isMadeAgain else { return false }
    guard try await isWhole(key, name, log) else {
      throw ReplicaError(
        .damagedObject, "\(key) was stored twice with other bytes than were sent")
    }
    return true
  }

  /// Encodes a segment again, as it was encoded before or after the log was rotated.
  private func encodeAgain(
    _ name: SegmentName, _ log: LocalStream, _ sidecar: Sidecar
  ) async throws -> EncodedSegment? {
    for frameLength in Set([SegmentEncoder.frameLength, context.objectLimit.frameLength]) {
      for takesFrames in [true, false] {
        let again = try await writer.lane.encode(
          log, session: writer.session, generation: name.generation, range: name.range,
          storedLimit: .max, frameLength: frameLength, format: sidecar.format,
          takesFrames: takesFrames)
        if again.name == name { return again }
      }
    }
    return nil
  }

  /// Puts the bytes of a damaged object, made by another encoder, under other names, which then
  /// count instead.
  private func replace(_ name: SegmentName, _ state: inout SessionState) async throws {
    context.logger.warning(
      "\(writer.folder.key)\(name.fileName) is damaged, and cannot be made again: its bytes are put again"
    )
    let log = try state.requireView()
    var start = name.range.lowerBound
    while start < name.range.upperBound {
      start = try await writer.putPlain(
        start..<name.range.upperBound, of: name.generation, from: log, &state, avoiding: name)
    }
    state.entry.segments[name] = nil
    // The damaged object is still listed; a later pass sweeps it.
    state.entry.hasCutObjects = true
    try writer.save(&state)
  }

  /// Compares the bytes that a delta and its basis produce with the local log; on a difference, a
  /// new generation without a basis has to replace them.
  private func readBackDelta(
    _ name: SegmentName, _ log: LocalStream, _ state: SessionState
  ) async throws {
    var position = name.range.lowerBound
    do {
      try await context.reader.read(name, of: writer.remote(state)) { piece in
        let end = position + ByteCount(piece.count)
        guard try log.has(piece, in: position..<end) else {
          throw ReplicaError(.damagedObject, "\(writer.folder.key)\(name) makes other bytes")
        }
        position = end
      }
    } catch let error as ReplicaError {
      try SentSignature.remove(context.home, writer.session, generation: name.generation)
      throw ReplicaError(.localLogChanged, "\(error)")
    }
  }

  private func isWhole(_ key: String, _ name: SegmentName, _ log: LocalStream) async throws -> Bool
  {
    try await context.bodies.withUnits(Int(clamping: name.stored)) { _ in
      let object: [UInt8]
      do {
        object = try await context.store.get(key)
      } catch let error as StoreError where error.isNotFound {
        return false
      }
      return try await writer.lane.isWhole(object, of: name, in: log)
    }
  }
}

import Logging
import ObjectStore
import Platform
import Replica
import SessionLog

/// Puts one session's objects and keeps the manifest in step: the entry is dirty before the first
/// request, and an object counts once its PUT was answered.
struct RemoteWriter {
  let context: SyncContext
  let homeLock: HomeLock
  let session: SessionID
  let lane: SegmentWorker
  let folders: FolderListings
  let budget: PassBudget
  let report: @Sendable (UploadEvent) -> Void

  /// The folder of the objects: always below this device's own prefix, even if a file in the home
  /// names another.
  var folder: SessionFolder {
    SessionFolder(device: context.device.deviceId, session: session)
  }

  /// Makes a segment when memory allows, and puts it.
  ///
  /// - Parameters:
  ///   - range: stream offsets that it may hold.
  ///   - damaged: an object whose name it must not have; nil if any name will do.
  ///   - make: makes the segment.
  /// - Returns: the segment.
  @discardableResult
  func put(
    _ range: Range<StreamOffset>, _ state: inout SessionState, avoiding damaged: SegmentName? = nil,
    making make: (SessionState) async throws -> EncodedSegment
  ) async throws -> EncodedSegment {
    try await context.bodies.withUnits(min(context.segmentLimit, Int(range.byteCount))) { share in
      let segment = try await make(state)
      share.shrink(to: segment.body.count)
      return try await put(
        segment.name == damaged ? segment.renamed(1) : segment, &state)
    }
  }

  /// Makes a plain segment of a log and puts it.
  ///
  /// - Parameters:
  ///   - range: stream offsets; the segment begins with the first, and may not hold all.
  ///   - generation: the generation that it belongs to.
  ///   - log: the log, as it is sent.
  ///   - damaged: an object whose name it must not have; nil if any name will do.
  /// - Returns: the offset at its end.
  func putPlain(
    _ range: Range<StreamOffset>, of generation: Int, from log: LocalStream,
    _ state: inout SessionState, avoiding damaged: SegmentName? = nil
  ) async throws -> StreamOffset {
    let segment = try await put(range, &state, avoiding: damaged) { state in
      try await lane.encode(
        log, session: state.session, generation: generation, range: range,
        storedLimit: context.segmentLimit, lengthLimit: context.limits.longestSegment,
        frameLength: context.objectLimit.frameLength,
        format: state.sidecar.format)
    }
    return segment.name.range.upperBound
  }

  /// Puts a segment, under another name if its own is taken by a different object.
  private func put(
    _ made: EncodedSegment, _ state: inout SessionState
  ) async throws -> EncodedSegment {
    var segment = made
    try Self.expectName(for: made.name.range.upperBound, of: session)
    let log = try state.requireView()
    guard try log.isStillTheSame() else {
      throw ReplicaError(.localLogChanged, "\(log.path) was rewritten while it was read")
    }
    try begin(&state, putting: segment)
    var receipt = PutReceipt?.none
    do {
      var attempt = 1
      receipt = try await putOnce(folder.key + segment.name.fileName, segment.body)
      while receipt == nil {
        attempt += 1
        guard attempt <= Self.mostNames else { throw takenNames(made.name.fileName) }
        segment = try made.renamed(attempt)
        try begin(&state, putting: segment)
        receipt = try await putOnce(folder.key + segment.name.fileName, segment.body)
      }
    } catch {
      // The first request may be saved by its result only; without one, its intention has to be.
      if !state.entry.isKept {
        state.entry.isKept = true
        try save(&state)
      }
      if let error = error as? StoreError, error.code == .tooLarge {
        try context.objectLimit.lower(after: segment.body.count)
      }
      throw error
    }
    let name = segment.name
    state.sentInPass += name.length
    state.entry.segments[name] = receipt?.provesContent ?? false
    state.entry.own(name)
    // Several requests may be interrupted in between: then `status` shows the rest.
    if let end = state.end, name.range.upperBound < end { state.entry.isKept = true }
    var new = name.length
    if name.generation == state.entry.generation {
      // A segment after a hole of the local log does not raise the mark.
      if name.range.lowerBound <= state.entry.sent {
        new = max(0, name.range.upperBound - state.entry.sent)
        if new > 0 {
          (state.entry.sent, state.entry.link) = (name.range.upperBound, segment.endLink)
        }
      }
      try finish(&state)
    } else {
      // Until a revision names its generation, the next pass has to list it.
      try save(&state)
    }
    report(.sent(session: session, logBytes: new, storedBytes: ByteCount(segment.body.count)))
    return segment
  }

  /// Maximum number of names tried for the same content.
  private static let mostNames = 3

  /// Puts an object even if names are write-once, so that one left by an interrupted PUT cannot be
  /// overwritten.
  ///
  /// - Returns: nil if a different object has the name. An existing object of the right size is
  ///   assumed to be the intended one, and must be proven like one that the store did not prove.
  func putOnce(_ key: String, _ body: [UInt8]) async throws -> PutReceipt? {
    do {
      return try await context.store.put(key, body)
    } catch let error as StoreError where Self.mayMeanTaken(error) {
      guard let found = try? await context.store.head(key) else { throw error }
      context.logger.info("\(key) is there already, and may not be written again: \(error)")
      guard found.size == ByteCount(body.count) else { return nil }
      return PutReceipt(provesContent: false, serverDate: nil)
    }
  }

  /// Whether a refusal may mean that the name is taken: object lock, a policy without permission to
  /// overwrite, or a WebDAV server without a method for it.
  static func mayMeanTaken(_ error: StoreError) -> Bool {
    [.authentication, .conflict].contains(error.code)
  }

  private func takenNames(_ name: String) -> ReplicaError {
    ReplicaError(
      .damagedObject,
      "\(folder.key)\(name) and \(Self.mostNames) other names for the same bytes hold something else, "
        + "and may not be written again; remove them from the store, then run 'tidemark retry \(session)'"
    )
  }

  /// Rejects an offset with too many digits for a name: no reader would find the object.
  ///
  /// - Throws: ``ReplicaError``.
  static func expectName(for offset: StreamOffset, of session: SessionID) throws {
    guard offset > SegmentName.highestOffset else { return }
    throw ReplicaError(
      .tooLong,
      "\(session) cannot be sent beyond byte \(SegmentName.highestOffset), but extends to byte "
        + "\(offset); restart its program to begin another session, and keep the local log")
  }

  /// Puts a revision of an unsealed session as it is known now.
  func putRevision(_ state: inout SessionState) async throws {
    var sidecar = state.sidecar
    sidecar.clockOffset = context.serverClock.offset?.milliseconds
    sidecar.redaction = state.view?.redaction
    try await putRevision(sidecar, &state)
  }

  /// Puts a revision of an unsealed session under the next number.
  func putRevision(_ sidecar: Sidecar, _ state: inout SessionState) async throws {
    var sidecar = sidecar
    // Only the seal states how it ended.
    sidecar.status = .active
    sidecar.cause = nil
    sidecar.endedAt = nil
    let (revision, length) = (sidecar, state.entry.sent)
    _ = try await put(.active, length: length, &state) { number, state in
      try await signed(revision, number: number, length: length, state)
    }
  }

  /// Puts a sidecar revision under the next free number.
  ///
  /// - Parameter make: makes the JSON for a number.
  /// - Returns: its name and JSON, and whether the store proved its content.
  func put(
    _ status: SessionStatus, length: StreamOffset, _ state: inout SessionState,
    making make: (Int, SessionState) async throws -> [UInt8]
  ) async throws -> (name: RevisionName, json: [UInt8], isProven: Bool) {
    try Self.expectName(for: length, of: session)
    guard state.entry.revision < RevisionName.highestNumber else {
      throw ReplicaError(
        .damagedObject,
        "\(folder.key) has revision \(state.entry.revision) of \(session), the last that there can be: it "
          + "is damaged or forged; remove it from the store, then run 'tidemark retry \(session)'")
    }
    var number = state.entry.revision
    var name: RevisionName
    var json: [UInt8]
    var receipt: PutReceipt?
    repeat {
      number += 1
      guard number <= min(RevisionName.highestNumber, state.entry.revision + 1 + Self.mostNames)
      else { throw takenNames("\(session).s\(number)") }
      json = try await make(number, state)
      guard ByteCount(json.count) <= RevisionName.largestObject else {
        throw ReplicaError(
          .tooLong,
          "\(session) lies in so many objects that its sidecar, with \(json.count) bytes, is larger "
            + "than the \(RevisionName.largestObject) that readers take: it is not sealed, and stays on "
            + "this machine; restart its program to begin another session")
      }
      name = RevisionName(
        session: session, number: number, status: status, generation: state.entry.generation,
        length: length, json: json)
      state.entry.intend(name)
      try begin(&state)
      receipt = try await putOnce(folder.key + name.fileName, json)
    } while receipt == nil
    state.entry.revision = name.number
    state.latest = name
    // After the seal only the local record is missing: until it is written, the next pass has to
    // list.
    if status == .active { try finish(&state) }
    report(.sent(session: session, logBytes: 0, storedBytes: ByteCount(json.count)))
    return (name, json, receipt?.provesContent ?? false)
  }

  /// The sidecar as it is sent, without its place among the revisions.
  func sent(_ sidecar: Sidecar, _ state: SessionState) -> Sidecar {
    var sidecar = sidecar.remoteForm(redactedBy: context.redaction.current)
    if state.consent == .metadata { sidecar = sidecar.metadataForm } else { sidecar.consent = nil }
    sidecar.generation = state.entry.generation == 1 ? nil : state.entry.generation
    sidecar.former = state.former.isEmpty ? nil : state.former
    // These belong to the revision that this sidecar was made from.
    (sidecar.previous, sidecar.signature) = (nil, nil)
    return sidecar
  }

  /// A revision's JSON without fields meant for this machine only, with the previous revision, and
  /// signed.
  ///
  /// The same sidecar makes the same bytes under the same number.
  func signed(
    _ sidecar: Sidecar, number: Int, length: StreamOffset, _ state: SessionState
  ) async throws -> [UInt8] {
    var sidecar = sent(sidecar, state)
    guard let signer = context.signer else { return try sidecar.json() }
    let listed = try await folders.known(session, in: folder)?.revisions ?? []
    let before = (listed + [state.latest].compactMap(\.self)).filter { $0.number < number }
    sidecar.previous = before.max { $0.number < $1.number }?.fileName
    let name = RevisionName(
      session: session, number: number, status: sidecar.status,
      generation: state.entry.generation, length: length, json: [])
    return try signer.sign(sidecar, as: name, in: folder)
  }

  // MARK: The manifest

  /// Records that a request is in progress whose result is unknown.
  ///
  /// - Parameter segment: the segment that it puts: if its answer is lost, it counts nevertheless.
  func begin(_ state: inout SessionState, putting segment: EncodedSegment? = nil) throws {
    if let segment { state.entry.intend(segment.name, index: try segment.indexHash) }
    let entry = state.entry
    let isSaved = entry.unsavedIntentions.isEmpty && entry.unsavedRevisions.isEmpty
    guard !entry.isDirty || !isSaved else { return }
    state.entry.isDirty = true
    try save(&state)
  }

  /// Records that the result of every request is known.
  func finish(_ state: inout SessionState) throws {
    state.entry.isDirty = false
    state.entry.attempts = 0
    state.entry.lastError = nil
    state.entry.nextAttempt = nil
    try save(&state)
  }

  /// Saves the entry.
  func save(_ state: inout SessionState) throws {
    try context.manifest.save(&state.entry, of: session)
  }

  /// The segments known to be there.
  func remote(_ state: SessionState) -> RemoteSession {
    RemoteSession(folder: folder, session: session, segments: Array(state.entry.segments.keys))
  }
}

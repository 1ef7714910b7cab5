import ObjectStore
import Platform
import Replica
import SessionLog

/// Puts one session's objects, and keeps the manifest in step: it says "dirty" before the first
/// request, and counts an object once its PUT was answered.
struct RemoteWriter {
  let context: SyncContext
  let session: SessionID
  let lane: SegmentLane
  let folders: FolderListings
  let report: @Sendable (UploadEvent) -> Void

  /// Where the objects go: below this device's own prefix, whatever a file in the home says.
  var folder: SessionFolder {
    SessionFolder(device: context.device.deviceId, session: session)
  }

  /// Makes a segment as soon as there is room for it, and puts it.
  ///
  /// - Parameters:
  ///   - range: stream offsets of what it may hold.
  ///   - make: makes it.
  /// - Returns: the segment.
  @discardableResult
  func put(
    _ range: Range<StreamOffset>, _ state: inout SessionState,
    making make: (SessionState) async throws -> EncodedSegment
  ) async throws -> EncodedSegment {
    try await context.bodies.hold(min(context.segmentLimit, Int(range.byteCount))) { share in
      let segment = try await make(state)
      share.shrink(to: segment.body.count)
      try await put(segment, &state)
      return segment
    }
  }

  private func put(_ segment: EncodedSegment, _ state: inout SessionState) async throws {
    let name = segment.name
    try Self.expectName(for: name.range.upperBound, of: session)
    let log = try state.requireView()
    guard try log.isStillTheSame() else {
      throw ReplicaError(.localLogChanged, "\(log.path) was written anew while it was read")
    }
    try begin(&state)
    let receipt: PutReceipt
    do {
      receipt = try await context.store.put(folder.key + name.fileName, segment.body)
    } catch let error as StoreError where error.code == .tooLarge {
      try context.objectLimit.lower(after: segment.body.count)
      throw error
    }
    state.entry.segments[name] = receipt.provesContent
    state.entry.own(name)
    // What takes several requests may be interrupted between them: then 'status' says what is left.
    if let end = state.end, name.range.upperBound < end { state.entry.isKept = true }
    var new = name.length
    if name.generation == state.entry.generation {
      new = max(0, name.range.upperBound - state.entry.sent)
      if new > 0 { (state.entry.sent, state.entry.link) = (name.range.upperBound, segment.endLink) }
      try finish(&state)
    } else {
      // Until its generation is named, the next pass has to look what is there of it.
      try save(&state)
    }
    report(.sent(session: session, logBytes: new, storedBytes: ByteCount(segment.body.count)))
  }

  /// Refuses an offset that a name has no digits for: no reader would find the object.
  ///
  /// - Throws: ``ReplicaError``.
  static func expectName(for offset: StreamOffset, of session: SessionID) throws {
    guard offset > SegmentName.highestOffset else { return }
    throw ReplicaError(
      .tooLong,
      "\(session) cannot be sent beyond byte \(SegmentName.highestOffset), and goes on to byte "
        + "\(offset); restart its program to begin another session, and keep the local log")
  }

  /// Puts a revision of a session that is not sealed under the next number.
  func putRevision(_ sidecar: Sidecar, _ state: inout SessionState) async throws {
    var sidecar = sidecar
    // Only the seal says how it ended.
    sidecar.status = .active
    sidecar.cause = nil
    sidecar.endedAt = nil
    let json = try json(of: sidecar, state)
    _ = try await putRevision(json, .active, length: state.entry.sent, &state)
  }

  /// Puts a sidecar revision under the next number.
  ///
  /// - Returns: its name, and whether the store proved its content.
  func putRevision(
    _ json: [UInt8], _ status: SessionStatus, length: StreamOffset, _ state: inout SessionState
  ) async throws -> (name: RevisionName, isProven: Bool) {
    try Self.expectName(for: length, of: session)
    let name = RevisionName(
      session: session, number: state.entry.revision + 1, status: status,
      generation: state.entry.generation, length: length, json: json)
    try begin(&state)
    let receipt = try await context.store.put(folder.key + name.fileName, json)
    state.entry.revision = name.number
    // After the seal only the local mark is missing: until it is made, the next pass has to look.
    if status == .active { try finish(&state) }
    report(.sent(session: session, logBytes: 0, storedBytes: ByteCount(json.count)))
    return (name, receipt.provesContent)
  }

  /// What a sidecar says beyond this machine.
  func json(of sidecar: Sidecar, _ state: SessionState) throws -> [UInt8] {
    var sidecar = sidecar.remoteForm(redactedBy: context.redaction.current)
    if state.consent == .metadata { sidecar = sidecar.metadataForm } else { sidecar.consent = nil }
    sidecar.generation = state.entry.generation == 1 ? nil : state.entry.generation
    return try sidecar.json()
  }

  // MARK: The manifest

  /// Says that a request is under way whose end is not known.
  func begin(_ state: inout SessionState) throws {
    guard !state.entry.isDirty else { return }
    state.entry.isDirty = true
    try save(&state)
  }

  private func finish(_ state: inout SessionState) throws {
    state.entry.isDirty = false
    state.entry.attempts = 0
    state.entry.lastError = nil
    state.entry.nextAttempt = nil
    try save(&state)
  }

  /// Saves what is known.
  func save(_ state: inout SessionState) throws {
    try context.manifest.save(&state.entry, of: session)
  }

  /// The segments known to be there.
  func remote(_ state: SessionState) -> RemoteSession {
    RemoteSession(folder: folder, session: session, segments: Array(state.entry.segments.keys))
  }

  /// Segments of earlier generations that these copy from.
  func basis(of objects: [SegmentName], _ state: SessionState) async throws -> [SegmentName] {
    let reader = RemoteReader(context.store)
    var basis: Set<SegmentName> = []
    for name in objects where name.kind == .delta {
      basis.formUnion(try await reader.basis(of: name, in: remote(state)))
    }
    return basis.sorted { $0.fileName < $1.fileName }
  }
}

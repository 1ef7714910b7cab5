import ObjectStore
import Platform
import Replica
import SessionLog

/// A segment that a listing of this pass shows, with content proven equal to the local log.
struct ProvenSegment {
  /// Its name.
  let name: SegmentName

  fileprivate init(_ name: SegmentName) { self.name = name }
}

/// Proves that bytes of a session are in the store.
struct PartProof {
  private let context: SyncContext
  private let files: SessionFiles
  private let remote: RemoteSession
  private let log: LocalStream
  private let available: Range<StreamOffset>
  private let sidecar: Sidecar
  private var entry: UploadCheckpoint?
  /// Segments that the seal names; nil without a seal.
  private let sealed: [SegmentName]?
  private let damaged: DamagedCopies

  /// Reads the session's state in the store's listing and on this machine.
  ///
  /// - Throws: ``Platform/SystemError``, ``ObjectStore/StoreError``, errors of the manifest.
  init(_ context: SyncContext, _ local: LocalSession, _ folders: FolderListings) async throws {
    self.context = context
    files = local.files
    (sidecar, _) = try local.sidecar(device: context.device)
    guard let log = try local.openSentLog(sidecar, context) else {
      throw SystemError(
        operation: "open", path: local.files.log, errno: SystemError.Number.notFound)
    }
    self.log = log
    available = try log.available()
    entry = try context.manifest.entry(local.session)
    let objects = sidecar.objects ?? []
    sealed = sidecar.seal == nil ? nil : objects.compactMap(SegmentName.init)
    damaged = DamagedCopies(of: context)
    remote = try await folders.session(
      local.session, in: SessionFolder(device: sidecar.deviceId, session: local.session))
  }

  /// The evidence that every byte of a part is in the store.
  ///
  /// - Throws: ``Doubt``, ``Platform/SystemError``, ``ObjectStore/StoreError``, errors of the
  ///   manifest.
  mutating func evidence(for part: LogPart) async throws -> Evidence {
    guard try FileStatus(part.plain) == nil else { throw Doubt("it is not compressed yet") }
    if sidecar.remoteReapedAt != nil { throw Doubt("its remote copy was removed") }
    try damaged.expectUndamaged(sidecar.sessionId)
    if let (outer, inner) = remote.overlaps.first {
      throw Doubt("\(outer.fileName) and \(inner.fileName) contradict each other")
    }
    if sidecar.seal != nil {
      // Deltas need the objects they copy from.
      let claim = try SealClaim(
        sidecar, sealedFor: nil, log: nil, store: context.store.location)
      _ = try claim.check(remote)
    } else if let error = entry?.lastError {
      throw Doubt("it could not be sent: \(error)")
    }
    let end = part.start + (try files.open(part).length)
    var offset = part.start
    var segments: [ProvenSegment] = []
    while offset < end, let segment = segment(at: offset) {
      segments.append(try await proven(segment))
      offset = segment.range.upperBound
    }
    return try Evidence.proven(part.start..<end, by: segments)
  }

  /// Whether the bytes after a part redact the same without it.
  ///
  /// - Throws: ``Platform/SystemError``.
  func endsApart(_ part: LogPart) throws -> Bool {
    try log.canBegin(at: part.start + (try files.open(part).length))
  }

  /// The segment that covers an offset; for a sealed session, one that its seal names.
  private func segment(at offset: StreamOffset) -> SegmentName? {
    guard let sealed else { return remote.segment(at: offset) }
    return sealed.first { $0.range.contains(offset) && remote.segments.contains($0) }
  }

  /// Proves that a listed segment equals the local log.
  private mutating func proven(_ segment: SegmentName) async throws -> ProvenSegment {
    let isHere = available.lowerBound <= segment.range.lowerBound
    do {
      guard segment.range.upperBound <= available.upperBound, try !isHere || segment.matches(log)
      else { throw Doubt("\(segment.fileName) does not hold what is here") }
    } catch let error as ReplicaError {
      // A rotated part is missing.
      throw Doubt("\(segment.fileName) cannot be compared: \(error.detail)")
    }
    // The seal was put after every byte it names was proven.
    if sidecar.seal != nil || entry?.segments[segment] == true && segment.kind == .plain {
      return ProvenSegment(segment)
    }
    do {
      // Matching the name's hash suffices: the local bytes match it too.
      try await context.reader.read(segment, in: remote.folder) { _ in }
    } catch let error as ReplicaError {
      throw Doubt(error.detail)
    }
    if var known = entry {
      known.segments[segment] = true
      try context.manifest.save(&known, of: remote.session)
      entry = known
    }
    return ProvenSegment(segment)
  }
}

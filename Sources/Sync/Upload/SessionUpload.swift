import Foundation
import ObjectStore
import Platform
import Replica
import SessionLog

/// Sends what one session's remote copy lacks and, when the session has ended, seals it.
///
/// The order makes every instant a safe one to die at: the manifest says "dirty" before the first
/// request, a segment counts when its PUT was answered, the seal is put when every byte it names is
/// proven, and the local mark comes last.
struct SessionUpload {
  let context: SyncContext
  let item: UploadPlan.Item
  let local: LocalSession
  /// The sidecar as it stands on disk, or as it was pieced together when it was damaged.
  let sidecar: Sidecar
  let lane: SegmentLane
  let folders: FolderListings
  let report: @Sendable (UploadEvent) -> Void

  /// Makes ready to send a session.
  ///
  /// - Throws: ``Platform/SystemError`` when its sidecar cannot be read.
  init(
    _ item: UploadPlan.Item, _ context: SyncContext, lane: SegmentLane, folders: FolderListings,
    report: @escaping @Sendable (UploadEvent) -> Void
  ) throws {
    self.context = context
    self.item = item
    local = LocalSession(context.home, item.session)
    sidecar = try local.sidecar(device: context.device).sidecar
    self.lane = lane
    self.folders = folders
    self.report = report
  }

  var session: SessionID { item.session }
  /// Where its objects go: below this device's own prefix, whatever a file in the home says.
  var folder: SessionFolder {
    SessionFolder(device: context.device.deviceId, session: session)
  }

  /// Runs the steps; from the first again when the store takes no objects as large as was thought.
  ///
  /// - Throws: ``ReplicaError`` when the two copies contradict each other; store and system errors.
  func run() async throws {
    // What this pass puts itself, its listing does not show.
    var isFirst = true
    while true {
      let limit = context.objectLimit.bytes
      do {
        if item.consent == .metadata { return try await sendMetadata() }
        return try await sendAndSeal(consulting: isFirst && item.verdict != nil)
      } catch let error as StoreError where error.code == .tooLarge {
        guard context.objectLimit.bytes < limit else { throw error }
        isFirst = false
      }
    }
  }

  /// - Parameter consultsStore: whether the store is listed even where the manifest can be believed.
  private func sendAndSeal(consulting consultsStore: Bool) async throws {
    var (log, entry) = try await trustedEntry(requireLog(), consulting: consultsStore)
    do {
      log = try await bound(log, &entry)
      try await advance(log, upTo: item.sendableEnd, &entry)
    } catch let error as ReplicaError where error.code == .localLogChanged {
      guard try isWholeFile(log) else { throw error }
      try wantNextGeneration(after: entry)
      log = try await bound(log, &entry)
      try await advance(log, &entry)
    }
  }

  private func requireLog() async throws -> LocalStream {
    if let log = try await openLog() { return log }
    throw SystemError(operation: "open", path: local.files.log, errno: SystemError.Number.notFound)
  }

  /// Whether all of an attached session's stream is one file: whoever changed what that had before
  /// means the file as it is now.
  private func isWholeFile(_ log: LocalStream) throws -> Bool {
    try sidecar.source?.base == 0 && log.available().lowerBound == 0 && log.isStillTheSame()
  }

  /// Sends what is new and, when the session has ended, seals it.
  ///
  /// - Parameter planned: up to where a session that goes on may be sent; nil to find out.
  private func advance(
    _ log: LocalStream, upTo planned: StreamOffset? = nil, _ entry: inout ManifestEntry
  ) async throws {
    // The tick before this one covered others: nothing has been put since.
    let hasCovered = entry.merged > 0 && entry.merged == entry.sent
    if item.verdict != nil, let lock = try FileLock.tryExclusive(local.files.lock) {
      // Nobody can write any more: this length is the last one, whatever was rotated since.
      defer { withExtendedLifetime(lock) {} }
      try local.compressParts(sidecar.format)
      let epochs = log.redaction ?? []
      let log =
        try sidecar.source == nil
        ? local.openLog(nil).map { try view($0, by: epochs) } ?? log : log
      let (length, modified) = try log.status()
      let (sidecar, isDamaged) = try local.sidecar(device: context.device)
      if let verdict = try Verdict.reach(
        sidecar: sidecar, files: local.files, lockGranted: true, machine: context.machine,
        now: context.now(), logModified: modified)
      {
        let tally = try await send(log, upTo: length, &entry)
        try await coverAll(log, upTo: length, &entry)
        if isDamaged { try quarantineSidecar() }
        try await seal(
          log, sidecar: sidecar, verdict: verdict, length: length, tally: tally, &entry)
        return
      }
    }
    entry.isKept = true
    try await announce(log, &entry)
    let (length, modified) = try log.status()
    let sent = try entry.generation == wantedGeneration() ? entry.sent : .zero
    let end =
      try planned
      ?? local.sendableEnd(
        of: log, length: length, sent: sent, modified: modified, format: sidecar.format,
        context: context
      ).offset
    try await send(log, upTo: end, &entry)
    if hasCovered { try await removeCovered(&entry, log) }
    try context.manifest.save(&entry, of: session)
    // The attacher tells when a foreign file has grown: until then nobody has to look at it.
    if sidecar.source != nil, entry.sent == length { try local.removeMarker() }
  }

  // MARK: Sending

  /// Puts the first sidecar revision of a session that goes on, so that it is listed from its
  /// first tick; and one that takes back that its log is not sent.
  private func announce(_ log: LocalStream, _ entry: inout ManifestEntry) async throws {
    let wasWithheld = try local.saidConsent(sidecar) == .metadata
    guard entry.revision == 0 || wasWithheld else { return }
    var sidecar = sidecar
    sidecar.clockOffset = context.serverClock.offset?.milliseconds
    sidecar.redaction = log.redaction
    try await putRevision(sidecar, length: entry.sent, &entry)
    if wasWithheld { try local.note(.logs) }
  }

  /// What a sidecar says beyond this machine.
  func revisionJSON(_ sidecar: Sidecar, _ entry: ManifestEntry) throws -> [UInt8] {
    var sidecar = sidecar.remoteForm(redactedBy: context.redaction.current)
    if item.consent == .metadata { sidecar = sidecar.metadataForm } else { sidecar.consent = nil }
    sidecar.generation = entry.generation == 1 ? nil : entry.generation
    return try sidecar.json()
  }

  /// Puts a sidecar revision under the next number.
  func putRevision(
    _ sidecar: Sidecar, length: StreamOffset, _ entry: inout ManifestEntry
  ) async throws {
    let json = try revisionJSON(sidecar, entry)
    _ = try await putRevision(json, sidecar.status, length: length, &entry)
  }

  /// Puts a sidecar revision under the next number.
  ///
  /// - Returns: its name, and whether the store proved its content.
  func putRevision(
    _ json: [UInt8], _ status: SessionStatus, length: StreamOffset, _ entry: inout ManifestEntry
  ) async throws -> (name: RevisionName, isProven: Bool) {
    let name = RevisionName(
      session: session, number: entry.revision + 1, status: status,
      generation: entry.generation, length: length, json: json)
    try begin(&entry)
    let receipt = try await context.store.put(folder.key + name.fileName, json)
    entry.revision = name.number
    // After the seal only the local mark is missing: until it stands, the next pass has to look.
    if status == .active { try finish(&entry) }
    report(.sent(session: session, logBytes: 0, storedBytes: ByteCount(json.count)))
    return (name, receipt.provesContent)
  }

  /// Sends what the remote copy lacks.
  ///
  /// - Returns: what the stream holds, as far as sending it has shown; nil unless it was sent from
  ///   its beginning.
  @discardableResult
  private func send(
    _ log: LocalStream, upTo end: StreamOffset, _ entry: inout ManifestEntry
  ) async throws -> StreamTally? {
    if try entry.generation != wantedGeneration() {
      try log.synchronize()
      try await sendGeneration(log, upTo: end, &entry)
    }
    guard entry.sent < end else { return nil }
    var tally: StreamTally?
    try log.synchronize()
    try await coverTicks(log, upTo: end, &entry)
    var signature = try openSignature(log, entry, upTo: end)
    while entry.sent < end {
      let range = entry.sent..<end
      let segment = try await put(of: log, range, &entry) { entry in
        let segment = try await lane.encode(
          log, session: session, generation: entry.generation, range: range,
          storedLimit: context.segmentLimit, frameLength: context.objectLimit.frameLength,
          format: sidecar.format, link: entry.link, signature: signature?.builder)
        guard try isUnchanged(log, entry) else {
          throw ReplicaError(.localLogChanged, "\(log.path) was written anew while it was read")
        }
        return segment
      }
      tally = segment.tally ?? tally
      guard let builder = segment.signature else { continue }
      signature?.proceed(with: builder)
      entry.signed = signature?.end ?? 0
    }
    return tally
  }

  /// The signature, where one is kept and as many bytes have come together as make it worthwhile.
  private func openSignature(
    _ log: LocalStream, _ entry: ManifestEntry, upTo end: StreamOffset
  ) throws -> SentSignature? {
    guard sidecar.source != nil, item.verdict == nil,
      end - entry.signed >= SentSignature.slack
    else { return nil }
    var signature = SentSignature(
      context.home, session, generation: entry.generation, upTo: entry.sent)
    let sent = remote(entry).cover(upTo: entry.sent, of: entry.generation)
    return try signature.catchUp(with: sent, of: log) ? signature : nil
  }

  /// Makes a segment as soon as there is room for it, and puts it.
  ///
  /// - Parameters:
  ///   - range: stream offsets of what it may hold.
  ///   - make: makes it.
  /// - Returns: the segment.
  @discardableResult
  func put(
    of log: LocalStream, _ range: Range<StreamOffset>, _ entry: inout ManifestEntry,
    making make: (ManifestEntry) async throws -> EncodedSegment
  ) async throws -> EncodedSegment {
    try await context.bodies.hold(min(context.segmentLimit, Int(range.byteCount))) { share in
      let segment = try await make(entry)
      share.shrink(to: segment.body.count)
      try await put(segment, of: log, &entry)
      return segment
    }
  }

  /// Puts one segment.
  private func put(
    _ segment: EncodedSegment, of log: LocalStream, _ entry: inout ManifestEntry
  ) async throws {
    let name = segment.name
    guard try log.isStillTheSame() else {
      throw ReplicaError(.localLogChanged, "\(log.path) was written anew while it was read")
    }
    try begin(&entry)
    let receipt: PutReceipt
    do {
      receipt = try await context.store.put(folder.key + name.fileName, segment.body)
    } catch let error as StoreError where error.code == .tooLarge {
      try context.objectLimit.lower(after: segment.body.count)
      throw error
    }
    entry.segments[name] = receipt.provesContent
    var new = name.length
    if name.generation == entry.generation {
      new = max(0, name.range.upperBound - entry.sent)
      if new > 0 { (entry.sent, entry.link) = (name.range.upperBound, segment.endLink) }
      try finish(&entry)
    } else {
      // Until its generation is named, whoever comes next has to look what is there of it.
      try context.manifest.save(&entry, of: session)
    }
    report(.sent(session: session, logBytes: new, storedBytes: ByteCount(segment.body.count)))
  }

  func begin(_ entry: inout ManifestEntry) throws {
    guard !entry.isDirty else { return }
    entry.isDirty = true
    try context.manifest.save(&entry, of: session)
  }

  private func finish(_ entry: inout ManifestEntry) throws {
    entry.isDirty = false
    entry.attempts = 0
    entry.lastError = nil
    entry.nextAttempt = nil
    try context.manifest.save(&entry, of: session)
  }

  /// Keeps a sidecar that could not be read where a person can look at it.
  func quarantineSidecar() throws {
    let kept = "\(context.home.quarantinePath)/\(session).json"
    do {
      try File.rename(local.files.sidecar, to: kept)
    } catch {
      guard error.isNotFound else { throw error }
    }
  }
}

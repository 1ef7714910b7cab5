import Delta
import Foundation
import LogRecords
import ObjectStore
import Platform
import Redaction
import Replica
import SessionLog

/// Steps of an upload on a session in the home.
extension LocalSession {
  /// Compresses parts that a dead recorder left plain.
  func compressParts(_ format: LogFormat) throws {
    do {
      try files.compressParts(format: format)
    } catch let error as SystemError where error.isDiskFull {
      // A plain part is readable, and is sent and reaped like any other.
    }
  }

  /// How long the last record may lack its newline, or a possible secret its end, before the log is
  /// sent as it is.
  private static let partialRecordPatience = Duration.seconds(60)
  /// The size at which an unfinished record is cut, in bytes.
  private static let partialRecordLimit: ByteCount = 8 << 20

  /// The offset up to which a growing log may be sent, and why not further: the end of its last
  /// record, and not inside a possible secret; its end if it has been idle.
  func sendableEnd(
    of log: LocalStream, length: StreamOffset, sent: StreamOffset, modified: Timestamp,
    format: LogFormat,
    context: SyncContext
  ) throws -> (offset: StreamOffset, rest: WaitReason?) {
    guard length > sent else { return (sent, .nothingNew) }
    if isIdle(since: modified, context) { return (length, nil) }
    return try recordEnd(
      of: log, upTo: length, sent: sent, format: format, by: context.redaction.current)
  }

  /// The last offset at which the beginning of a log may be cut, and why not later: the end of a
  /// record, and not inside a possible secret.
  ///
  /// - Parameters:
  ///   - length: the offset up to which to look.
  ///   - redactor: the rules that decide what may be a secret.
  /// - Throws: ``Platform/SystemError``.
  func recordEnd(
    of log: LocalStream, upTo length: StreamOffset, sent: StreamOffset, format: LogFormat,
    by redactor: Redactor
  ) throws -> (offset: StreamOffset, rest: WaitReason?) {
    // Bytes that the store has lost may be pruned here: sending them says so.
    let first = min(length, max(sent, try log.available().lowerBound))
    // Where the last record is longer than the limit, it is cut at the log's end, wherever it began: a
    // file of holes is not read for that.
    let start = max(first, length - Self.partialRecordLimit)
    let last = try log.lastRecordEnd(in: start..<length) ?? (start > first ? length : first)
    guard last > sent else { return (sent, .unfinishedLine) }
    let settled = max(sent, try log.settledEnd(last, by: redactor, format))
    return (settled, settled < last ? .heldBackSecret : last < length ? .unfinishedLine : nil)
  }

  /// Whether a log has been idle for so long that it may be cut at its end.
  func isIdle(since modified: Timestamp, _ context: SyncContext) -> Bool {
    context.now() - modified >= Self.partialRecordPatience
  }

  /// Lets a log with a time in the future count as last changed now.
  ///
  /// What fails is tried again by the next pass.
  func countIdle(from now: Timestamp) {
    guard let log = try? Descriptor(opening: files.log, [.write]),
      let status = try? log.status(), status.modifiedAt > now
    else { return }
    try? log.setModified(FileTime(now))
  }

  /// Time since the marker was created; nil without a marker.
  func markerAge(now: Timestamp) throws -> Duration? {
    try FileStatus(files.marker).map { now - $0.modifiedAt }
  }

  /// Removes everything that a session needs until its seal is recorded here, and remembers whether
  /// the seal superseded objects.
  func settle(_ context: SyncContext) throws {
    // For a session that a killed pass sealed, the entry lacks that pass's listing.
    let entry = try context.manifest.entry(session)
    let hasSuperseded = entry.map { $0.isDirty || !$0.hasOnlyFinalObjects } ?? true
    try context.manifest.forgetSealed([session: hasSuperseded], due: context.now())
    try AtomicFile.synchronize([files.sidecar])
    try leave()
  }

  /// Removes the files that lead a pass to the session.
  func leave() throws {
    try removeDisprovedGap()
    try files.settleNote()
    try File.remove(files.uploadState)
    try removeMarker()
    try Quarantine(home).release(session)
  }

  /// Removes the line that reports the loss of bytes that an adopted seal has.
  private func removeDisprovedGap() throws {
    guard let sidecar = try? Sidecar.load(files.sidecar), let source = sidecar.source,
      let seal = sidecar.seal, seal.length == source.length, !sidecar.withholdsLog,
      hasOnlyGap(of: source)
    else { return }
    try File.remove(files.log)
  }

  /// Removes the marker, after which no pass visits the session.
  ///
  /// The lock goes first: without a marker it would never be removed.
  func removeMarker() throws {
    for path in [files.reserve, files.declared, files.lock, files.marker] { try File.remove(path) }
  }

  // MARK: Deletion

  /// Records that the remote copy was deleted on purpose, so that age alone decides here.
  ///
  /// Applies only if the deletion included the very seal that this home put and, unless a person
  /// asked for it, all that it names: without that the copy was incomplete, and objects of other devices under this session's id are theirs.
  func recordRemoteRemoval(
    of keys: [String], in store: String, at now: Timestamp, isAsked: Bool = false
  ) throws {
    // For a session in the trash, this takes effect once it is restored.
    guard let path = try sidecarPath(), var sidecar = try? Sidecar.load(path) else { return }
    let folder = SessionFolder(device: sidecar.deviceId, session: session)
    if let seal = sidecar.seal {
      let objects = isAsked ? [] : (sidecar.objects ?? []) + (sidecar.basis ?? [])
      let names = [seal.revision] + objects
      guard seal.store == store, Set(names.map { folder.key + $0 }).isSubset(of: keys) else {
        return
      }
    } else {
      guard keys.allSatisfy({ $0.hasPrefix(folder.key) }) else { return }
    }
    sidecar.remoteReapedAt = now
    try sidecar.save(path)
  }

  // MARK: Rules

  /// Records epochs and, for a recorded stream, its generation.
  ///
  /// The first epoch of a first generation can be recovered by trying; that of any other is
  /// recorded before anything is sent.
  ///
  /// - Parameters:
  ///   - kept: the former streams before that generation that stay; nil to leave them as they are.
  ///   - replaced: the epochs that a redaction replaces; nil if these do not begin one.
  ///   - known: the present record; nil to read it.
  /// - Returns: the new record.
  @discardableResult
  func record(
    _ epochs: [Sidecar.RedactionEpoch], generation: Int?, keeping kept: [Int]? = nil,
    replacing replaced: [Sidecar.RedactionEpoch]? = nil, in known: UploadState? = nil
  ) throws -> UploadState {
    var uploadState = try known ?? loadUploadState() ?? UploadState()
    uploadState.redaction = epochs
    uploadState.generation = generation
    if let kept { uploadState.kept = kept.isEmpty ? nil : kept }
    if let replaced { (uploadState.replaced, uploadState.hasBegun) = (replaced, nil) }
    try write(
      uploadState, isDurable: epochs.count > 1 || generation != nil || uploadState.consent != nil)
    return uploadState
  }

  /// Records that the sidecar has the generation that a redaction begins.
  ///
  /// - Throws: ``Platform/SystemError``.
  func confirmRedaction() throws {
    guard var uploadState = try loadUploadState() else { return }
    uploadState.hasBegun = true
    try write(uploadState, isDurable: false)
  }

  /// Lets the epochs count again that a redaction was to replace: the log is gone before its new
  /// generation was sent.
  ///
  /// - Parameter generation: the one that was sent.
  /// - Returns: the new record; nil if no redaction had begun.
  /// - Throws: ``Platform/SystemError``.
  @discardableResult
  func withdrawRedaction(beyond generation: Int) throws -> UploadState? {
    guard var uploadState = try loadUploadState(),
      uploadState.withdrawRedaction(beyond: generation)
    else { return nil }
    try write(uploadState, isDurable: true)
    return uploadState
  }

  /// The stream as it is or was sent; nil without a local log.
  ///
  /// - Parameter segments: what the store has of it: the rules of a log that a pass has sent as one
  ///   object are recorded by its seal, and found by that object until then.
  /// - Throws: ``Replica/ReplicaError`` if a rule set that binds it is missing.
  func openSentLog(
    _ sidecar: Sidecar, _ context: SyncContext, sentAs segments: [SegmentName] = []
  ) throws -> LocalStream? {
    try openLog(sidecar.source).map { try sent($0, sidecar, context, as: segments) }
  }

  /// The stream that a local log was or is sent as; see ``openSentLog(_:_:sentAs:)``.
  func sent(
    _ log: LocalStream, _ sidecar: Sidecar, _ context: SyncContext, as segments: [SegmentName]
  ) throws -> LocalStream {
    var epochs = try redaction(sidecar) ?? []
    if epochs.isEmpty, sidecar.seal == nil, !segments.isEmpty {
      let epoch = try context.redaction.epoch(
        of: log.afterHoles(), sidecar.format, sentAs: segments)
      epochs = epoch.map { [$0] } ?? []
    }
    return log.redacted(by: try context.redaction.spans(epochs), sidecar.format)
  }

  /// The fingerprint of what was sent before an offset, by a log that may be the one that was sent; nil
  /// if it is shorter, or cannot be read.
  func sentLink(
    of log: LocalStream, _ sidecar: Sidecar, _ context: SyncContext, before end: StreamOffset
  ) -> Link? {
    guard (try? log.status().length) ?? .zero >= end,
      let sent = try? sent(log, sidecar, context, as: [])
    else { return nil }
    return try? sent.link(before: end)
  }
}

import Logging
import Platform
import Replica
import SessionLog

/// The bytes that were sent of a file, as the names of their objects prove them: first and last
/// bytes alone do not tell a rewritten file from one that grew.
struct SentBytes {
  private let context: SyncContext
  private let sidecar: Sidecar
  private let source: Sidecar.Source
  private let redaction: [Sidecar.RedactionEpoch]
  /// The objects with bytes of the file, in stream order.
  private let objects: [SegmentName]

  /// Whether the session is sealed, so that nothing else compares the file with what was sent.
  var isSealed: Bool { sidecar.seal != nil }

  /// How many they are.
  var length: ByteCount { objects.map(\.length).total }

  /// How many sent bytes are compared each time an open session's file has grown.
  static let sample: ByteCount = 256 << 10

  /// Determines what was sent of a session's file; nil if that is unknown, or nothing was.
  ///
  /// - Throws: errors of the manifest and of the local files.
  init?(_ session: SessionID, _ context: SyncContext) throws {
    let local = LocalSession(context.home, session)
    guard let sidecar = try? Sidecar.load(local.files.sidecar), let source = sidecar.source
    else { return nil }
    var names: [SegmentName] = []
    let redaction = try local.redaction(sidecar)
    if sidecar.seal != nil {
      names = (sidecar.objects ?? []).compactMap(SegmentName.init)
    } else if let entry = try context.manifest.entry(session), redaction?.isEmpty == false,
      entry.generation == (try local.generation(sidecar))
    {
      names = entry.segments.keys.filter {
        $0.generation == entry.generation && entry.own.contains($0)
      }
    }
    let end = source.length ?? SegmentName.highestOffset
    objects = names.filter { $0.range.upperBound <= end }
      .sorted { $0.range.lowerBound < $1.range.lowerBound }
    guard !objects.isEmpty else { return nil }
    (self.context, self.sidecar, self.source) = (context, sidecar, source)
    self.redaction = redaction ?? []
  }

  /// Whether a sealed file certainly has not changed since its seal, by its status alone.
  func isUntouched(_ status: FileStatus) -> Bool {
    guard let log = sidecar.seal?.log, let length = source.length, sidecar.seal?.length == length
    else { return false }
    return status.inode == source.inode && status.length == source.position(of: length)
      && log.modified == status.modifiedAt
  }

  /// Whether a file has all of them up to an offset in it, or is compressed.
  ///
  /// - Throws: ``Platform/SystemError``.
  func areIn(_ content: FileContent, before end: Int64 = .max) throws -> Bool {
    try content.log(from: source.base).map { try areIn($0, of: content, before: end) } ?? true
  }

  /// The same, but a compressed file is unpacked and compared, too, unless it is damaged.
  ///
  /// - Parameter onUnpacking: called with the number of bytes that were unpacked.
  /// - Throws: ``Platform/SystemError``, also when the disk is too full to unpack the file.
  func areUnpackedIn(
    _ content: FileContent, before end: Int64 = .max, onUnpacking: (ByteCount) -> Void = { _ in }
  ) throws -> Bool {
    let path = "\(context.home.cachePath)/\(sidecar.sessionId).unpacked"
    do {
      guard let log = try content.unpackedLog(from: source.base, at: path) else {
        return try areIn(content, before: end)
      }
      onUnpacking(try log.status().length.byteCount)
      return try areIn(log, of: content, before: end)
    } catch let error as SystemError where error.path == content.path {
      context.logger.info("\(content.path) cannot be compared with what was sent: \(error)")
      return true
    }
  }

  private func areIn(
    _ log: LocalStream, of content: FileContent, before end: Int64
  ) throws -> Bool {
    let names = objects.filter { source.position(of: $0.range.upperBound) <= end }
    return try areIn(log, names) && isBaseIn(content)
  }

  /// Whether a file has the bytes before the session's first, which belong to the one that it
  /// continues.
  ///
  /// - Throws: ``Platform/SystemError``.
  func isBaseIn(_ content: FileContent) throws -> Bool {
    try Self.isBase(of: sidecar, in: content, context)
  }

  /// Whether a file has the bytes before a session's first, even if nothing of that was sent yet.
  ///
  /// - Throws: ``Platform/SystemError``; errors of the manifest.
  static func isBase(
    of sidecar: Sidecar, in content: FileContent, _ context: SyncContext
  ) throws -> Bool {
    guard let source = sidecar.source, source.base > 0, let former = sidecar.continues,
      let before = try SentBytes(former, context), before.source.base < source.base
    else { return true }
    return try before.areIn(content, before: source.base)
  }

  /// Whether a file has a bounded sample of them, another one each minute.
  ///
  /// - Throws: ``Platform/SystemError``.
  func areSampled(in content: FileContent, upTo length: ByteCount = Self.sample) throws -> Bool {
    let minute = max(0, context.now().milliseconds / 60_000)
    let first = Int(minute % Int64(objects.count))
    var left = length
    var names: [SegmentName] = []
    for name in objects[first...] + objects[..<first] where name.length <= left {
      left -= name.length
      names.append(name)
    }
    return try content.log(from: source.base).map { try areIn($0, names) } ?? true
  }

  private func areIn(_ log: LocalStream, _ names: [SegmentName]) throws -> Bool {
    do {
      let sent = log.redacted(by: try context.redaction.spans(redaction), sidecar.format)
      return try names.allSatisfy { try $0.matches(sent) }
    } catch let error as ReplicaError {
      context.logger.info("\(source.path) cannot be compared with what was sent: \(error)")
      // The upload of an open session reports missing rules.
      return !isSealed && (try? context.redaction.spans(redaction)) == nil
    }
  }
}

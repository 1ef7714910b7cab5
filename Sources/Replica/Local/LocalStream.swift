package import Delta
import Foundation
package import LogRecords
package import Platform
package import Redaction
package import SessionLog

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The part of a session's stream that is on this machine, read by position; it may grow meanwhile.
///
/// A recorded session's stream consists of rotated parts and the live log. An attached session's
/// begins in a foreign file and may end in a file of the home.
package final class LocalStream: Sendable {
  /// Its path, for messages.
  package let path: String
  /// The pieces, in stream order and without gaps.
  let pieces: [Piece]
  /// The first bytes of the foreign file.
  private let source: Sidecar.Source?
  /// Later ones, if they are known.
  private let anchor: Anchor?
  /// The redaction for sending; nil for the bytes themselves.
  let view: RedactedView?

  /// The last bytes of a foreign file that were read: they tell it from another log that begins alike.
  package struct Anchor: Sendable {
    /// The offset in the file at their end.
    let end: Int64
    let link: Link

    /// Describes the bytes before an offset in the file by their fingerprint.
    package init(before end: Int64, _ link: Link) { (self.end, self.link) = (end, link) }
  }

  /// A contiguous part of the stream in one file.
  struct Piece {
    let file: any LogBytes
    /// Stream offset of its first byte.
    let start: StreamOffset
    /// Position of its first byte in the file.
    let base: Int64
    /// Stream offset of the next piece; nil for the last, which may grow.
    let end: StreamOffset?
  }

  /// Opens the local part of a recorded session's stream.
  ///
  /// - Throws: ``Platform/SystemError``, also if nothing of the stream is here.
  package init(_ files: SessionFiles) throws {
    path = files.log
    (source, anchor, view) = (nil, nil, nil)
    let log = try RecordedLog(files)
    pieces = [Piece(file: log, start: log.start, base: Int64(log.start), end: nil)]
  }

  /// Opens the local part of a recorded session's stream from an offset on, whatever its log has before.
  ///
  /// - Parameters:
  ///   - start: the offset.
  ///   - end: when the log last grew, if nothing of it counts; nil if what it has from there on does.
  /// - Throws: ``Platform/SystemError``.
  package init(_ files: SessionFiles, from start: StreamOffset, endedAt end: Timestamp?) throws {
    path = files.log
    (source, anchor, view) = (nil, nil, nil)
    let bytes: any LogBytes =
      if let end { NoBytes(end: Int64(start), modified: end) } else { try RecordedLog(files) }
    pieces = [Piece(file: bytes, start: start, base: Int64(start), end: nil)]
  }

  /// Opens a log that is a single file, without following a link.
  ///
  /// - Throws: ``Platform/SystemError``.
  package init(path: String) throws {
    self.path = path
    (source, anchor, view) = (nil, nil, nil)
    pieces = [Piece(file: try OpenFile(path), start: 0, base: 0, end: nil)]
  }

  /// Opens a stream that begins in an open file.
  ///
  /// - Parameters:
  ///   - file: the file.
  ///   - base: position of the stream's first byte in the file.
  package init(_ file: OpenFile, from base: Int64) {
    path = file.path
    (source, anchor, view) = (nil, nil, nil)
    pieces = [Piece(file: file, start: 0, base: base, end: nil)]
  }

  /// Opens the local part of an attached session's stream.
  ///
  /// - Parameters:
  ///   - source: the foreign file; it counts only while it is still the same file.
  ///   - rest: the home's file for bytes that the foreign one lacks.
  /// - Throws: ``Platform/SystemError``, also if nothing of the stream is here.
  package init(_ source: Sidecar.Source, rest: String) throws {
    path = source.path
    self.source = source
    (anchor, view) = (nil, nil)
    var pieces: [Piece] = []
    if source.length != 0, let file = try Self.find(source) {
      pieces.append(Piece(file: file, start: 0, base: source.base, end: source.length))
    }
    if let length = source.length, File.exists(rest) {
      pieces.append(Piece(file: try OpenFile(rest), start: length, base: 0, end: nil))
    }
    guard !pieces.isEmpty else {
      throw SystemError(operation: "find", path: source.path, errno: SystemError.Number.notFound)
    }
    self.pieces = pieces
  }

  /// Opens the part of a recorded session's stream between two holes, or after the last one.
  init(
    _ log: LocalStream, _ recorded: RecordedLog, _ run: Range<StreamOffset>, isLast: Bool
  ) {
    (path, source, anchor) = (log.path, nil, nil)
    view = log.view.map { RedactedView($0.spans, $0.format) }
    let end = isLast ? nil : run.upperBound
    pieces = [
      Piece(file: recorded, start: run.lowerBound, base: Int64(run.lowerBound), end: end)
    ]
  }

  /// Where a stream whose beginning is gone can begin: not within what may be the rest of a private
  /// key whose header is gone, because its lines would not be masked.
  ///
  /// While such lines are the log's last ones, that is its end. As the log grows, it moves on, and what
  /// is masked does not depend on it: what was sent stays equal to what is read.
  ///
  /// - Throws: like ``read(_:)``.
  package func safeBeginning(by redactor: Redactor) throws -> StreamOffset {
    let local = try available()
    guard local.lowerBound > 0 else { return local.lowerBound }
    let context = local.lowerBound + ByteCount(Redactor.context)
    let text = try rawBytes(local.lowerBound..<min(context, local.upperBound))
    return local.lowerBound + ByteCount(redactor.keyRest(in: text, view?.format ?? .asIs))
  }

  /// Where a stream whose beginning is gone can begin by the rules that bind it; see
  /// ``safeBeginning(by:)``.
  ///
  /// - Throws: like ``read(_:)``.
  func safeBeginning() throws -> StreamOffset {
    let starts = try view?.spans.map { try safeBeginning(by: $0.redactor) } ?? []
    return try starts.max() ?? available().lowerBound
  }

  private init(_ log: LocalStream, _ view: RedactedView?, _ anchor: Anchor?) {
    (path, source, pieces) = (log.path, log.source, log.pieces)
    (self.view, self.anchor) = (view, anchor)
  }

  /// The same stream, whose file has to keep bytes that were read of it.
  package func anchored(by anchor: Anchor?) -> LocalStream { LocalStream(self, view, anchor) }

  /// The same stream as it is sent: everything that reads bytes gets them masked.
  ///
  /// - Parameters:
  ///   - spans: which rules bind which bytes, in order.
  ///   - format: the stream's format.
  package func redacted(by spans: [RedactionSpan], _ format: LogFormat) -> LocalStream {
    LocalStream(self, RedactedView(spans, format), anchor)
  }

  /// Which rules bind its bytes; nil for none.
  package var redaction: [Sidecar.RedactionEpoch]? {
    view.flatMap { $0.spans.isEmpty ? nil : $0.spans.map(\.epoch) }
  }

  /// Masked bytes up to an offset, by kind; bytes that were read in order from the beginning are
  /// not read again.
  ///
  /// - Throws: like ``read(_:)``.
  package func redactions(upTo end: StreamOffset) throws -> [String: Int]? {
    guard let view, let start = pieces.first?.start else { return nil }
    let counted = max(start, view.tally.withLock(\.end))
    if counted < end { try forEachPiece(of: counted..<end) { _ in } }
    let counts = view.tally.withLock(\.counts)
    return counts.isEmpty ? nil : counts
  }

  /// Whether the bytes after an offset are masked the same when the bytes before it are gone.
  ///
  /// - Throws: like ``read(_:)``.
  package func canBegin(at offset: StreamOffset) throws -> Bool {
    guard let view, let first = pieces.first?.start, first < offset else { return true }
    let bytes = try rawBytes(max(first, offset - ByteCount(Redactor.context))..<offset)
    return view.spans.allSatisfy { $0.redactor.decisiveStart(in: bytes) == bytes.count }
  }

  /// The largest offset, at most a given one, before which no following text can change a mask.
  ///
  /// - Parameter redactor: the rules that will bind these bytes.
  /// - Throws: like ``read(_:)``.
  package func settledEnd(
    _ end: StreamOffset, by redactor: Redactor, _ format: LogFormat
  ) throws -> StreamOffset {
    guard !redactor.rules.rules.isEmpty, let first = pieces.first?.start, first < end else {
      return end
    }
    let start = max(first, end - ByteCount(Redactor.context) * 2)
    let bytes = try rawBytes(start..<end)
    return start + ByteCount(redactor.settled(bytes, at: Int64(start), format))
  }

  private static func find(_ source: Sidecar.Source) throws -> OpenFile? {
    do {
      let file = try OpenFile(foreign: source.path)
      let status = try file.status()
      guard status.device == source.device, status.inode == source.inode else { return nil }
      return try begins(file, as: source) ? file : nil
    } catch let error as SystemError where error.isNotFound {
      return nil
    }
  }

  /// Whether a foreign file still begins as it did when it was found, and has the last bytes that were
  /// read: a rotation may truncate it at any moment, after which the bytes read are another log's.
  ///
  /// - Throws: ``Platform/SystemError``.
  package func isStillTheSame() throws -> Bool {
    guard let source, let first = pieces.first, source.length != 0, first.start == 0 else {
      return true
    }
    guard try Self.begins(first.file, as: source) else { return false }
    guard let anchor else { return true }
    let start = max(0, anchor.end - Int64(Link.span))
    let bytes = try first.file.read(at: start, count: Int(anchor.end - start))
    return Int64(bytes.count) == anchor.end - start && Link(before: bytes[...]) == anchor.link
  }

  private static func begins(_ file: any LogBytes, as source: Sidecar.Source) throws -> Bool {
    source.isHead(try file.read(at: 0, count: source.headLength))
  }

  /// The range of the stream that is on this machine.
  ///
  /// - Throws: ``Platform/SystemError``.
  package func available() throws -> Range<StreamOffset> {
    guard let first = pieces.first else { return 0..<0 }
    return first.start..<max(first.start, try status().length)
  }

  /// Length of the stream and time of its last change.
  ///
  /// - Throws: ``Platform/SystemError``.
  package func status() throws -> (length: StreamOffset, modified: Timestamp) {
    guard let last = pieces.last else { return (0, Timestamp(milliseconds: 0)) }
    let (end, modified) = try last.file.extent()
    let grown = last.start + ByteCount(max(0, end - last.base))
    return (last.end ?? grown, modified)
  }

  /// Makes the log durable, so that no sent byte can be lost here by a power failure.
  ///
  /// - Throws: ``Platform/SystemError``.
  package func synchronize() throws { for piece in pieces { try piece.file.synchronize() } }

  /// Reads a range that must be there.
  ///
  /// - Throws: ``Platform/SystemError``; ``ReplicaError`` if part of the range is not on this
  ///   machine.
  package func read(_ range: Range<StreamOffset>) throws -> [UInt8] {
    guard let view else { return try rawBytes(range) }
    return try view.read(range, of: self).bytes
  }

  /// Reads a range without redaction.
  func rawBytes(_ range: Range<StreamOffset>) throws -> [UInt8] {
    if let only = pieces.first, pieces.count == 1, range.lowerBound >= only.start {
      return try read(range, from: only)
    }
    var bytes: [UInt8] = []
    for piece in pieces {
      let lower = max(range.lowerBound, piece.start)
      let upper = min(range.upperBound, piece.end ?? range.upperBound)
      guard lower < upper, lower == range.lowerBound + ByteCount(bytes.count) else { continue }
      bytes += try read(lower..<upper, from: piece)
    }
    try expect(bytes.count, of: range)
    return bytes
  }

  /// Whether the stream has these bytes in a range of their length.
  ///
  /// - Throws: like ``read(_:)``.
  package func has(_ bytes: UnsafeRawBufferPointer, in range: Range<StreamOffset>) throws -> Bool {
    guard ByteCount(bytes.count) == range.byteCount else { return false }
    guard var theirs = bytes.baseAddress else { return true }
    var isEqual = true
    try forEachPiece(of: range) { mine in
      guard let base = mine.baseAddress else { return }
      isEqual = isEqual && memcmp(base, theirs, mine.count) == 0
      theirs += mine.count
    }
    return isEqual
  }

  private func read(_ range: Range<StreamOffset>, from piece: Piece) throws -> [UInt8] {
    let bytes = try piece.file.read(
      at: (range.lowerBound - piece.start).bytes + piece.base, count: Int(range.byteCount))
    try expect(bytes.count, of: range)
    return bytes
  }

  private func expect(_ count: Int, of range: Range<StreamOffset>) throws {
    guard ByteCount(count) < range.byteCount else { return }
    throw ReplicaError(
      .localLogChanged,
      "\(path) ends at \(range.lowerBound + ByteCount(count)), before \(range.upperBound)")
  }

  /// The compressed frame of a rotated part that begins at an offset; nil if none does, or
  /// redaction changes its bytes.
  ///
  /// - Throws: like ``read(_:)``.
  func storedFrame(
    at offset: StreamOffset
  ) throws -> (summary: FrameSummary, stored: [UInt8], bytes: [UInt8])? {
    guard let recorded = pieces.first?.file as? RecordedLog,
      let (summary, stored) = try Self.storedFrame(at: offset, of: recorded)
    else { return nil }
    let range = offset..<offset + ByteCount(summary.rawLength)
    guard let view else { return (summary, stored, try rawBytes(range)) }
    let (bytes, isMasked) = try view.read(range, of: self)
    return isMasked ? nil : (summary, stored, bytes)
  }

  private static func storedFrame(
    at offset: StreamOffset, of log: RecordedLog
  ) throws -> (summary: FrameSummary, stored: [UInt8])? {
    try log.withPart(at: offset) { part, start in
      guard let part = part as? CompressedPart,
        let frame = part.frames.first(where: { $0.range.lowerBound == (offset - start).bytes })
      else { return nil }
      return (frame.summary, try part.stored(frame))
    } ?? nil
  }

  /// Reads a range in pieces of at most 128 KiB.
  ///
  /// - Throws: like ``read(_:)``, and errors of `body`.
  package func forEachPiece(
    of range: Range<StreamOffset>, _ body: (UnsafeRawBufferPointer) throws -> Void
  ) throws {
    var offset = range.lowerBound
    while offset < range.upperBound {
      let end = min(range.upperBound, offset + 128 << 10)
      try read(offset..<end).withUnsafeBytes(body)
      offset = end
    }
  }

  /// The fingerprint of the bytes before an offset, as far as they are on this machine.
  ///
  /// - Throws: like ``read(_:)``.
  package func link(before offset: StreamOffset) throws -> Link {
    let first = min(offset, pieces.first?.start ?? 0)
    return Link(before: try read(max(first, offset - ByteCount(Link.span))..<offset)[...])
  }

  /// The offset after the last newline in a range, searched from its end; nil without one.
  ///
  /// - Throws: like ``read(_:)``.
  package func lastRecordEnd(in range: Range<StreamOffset>) throws -> StreamOffset? {
    var end = range.upperBound
    while end > range.lowerBound {
      let start = max(range.lowerBound, end - 65_536)
      // Newlines are never masked, so read without redaction.
      if let newline = try rawBytes(start..<end).lastIndex(of: 0x0a) {
        return start + ByteCount(newline + 1)
      }
      end = start
    }
    return nil
  }
}

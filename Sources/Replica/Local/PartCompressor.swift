import Delta
import Foundation
package import LogRecords
import Platform
package import SessionLog

/// Compresses rotated parts into the frames of a segment, and reads them.
package struct SegmentCompression: PartCompression {
  package init() {}

  package func compress(_ files: SessionFiles, format: LogFormat) throws {
    try PartCompressor(files, format: format).run()
  }

  package func open(_ part: LogPart) throws -> any OpenPart { try CompressedPart(part) }
}

/// Compresses the rotated parts of one session.
///
/// A plain part is as valid as a compressed one, so a killed process leaves nothing that the next
/// one cannot finish: the compressed file gets its name once it is durable, and only then the plain
/// one is removed.
struct PartCompressor {
  private let files: SessionFiles
  private let format: LogFormat

  /// Makes a compressor for one session.
  init(_ files: SessionFiles, format: LogFormat) {
    self.files = files
    self.format = format
  }

  /// Compresses plain parts, except those that another process is compressing.
  ///
  /// - Throws: ``SystemError``, ``Delta/SegmentError``.
  func run() throws {
    for part in try files.parts() where File.exists(part.plain) { try compress(part) }
  }

  private func compress(_ part: LogPart) throws {
    let temporary = part.compressed + ".tmp"
    guard let lock = try FileLock.tryExclusive(temporary) else { return }
    defer { withExtendedLifetime(lock) {} }
    // In this order: a part that is pruned once it is compressed must not reappear.
    let isCompressed = try FileStatus(part.compressed) != nil
    let plain: OpenFile
    do {
      plain = try OpenFile(part.plain)
    } catch let error as SystemError where error.isNotFound {
      // The lock went with the file that another process has named: it may be removing the plain one.
      try? File.remove(temporary)
      return
    }
    if try !isCompressed || !isEqual(plain, part) {
      try write(plain, of: part, to: temporary)
      try File.rename(temporary, to: part.compressed)
      // Read the compressed file back before removing the plain one.
      guard try isEqual(plain, part) else {
        throw SystemError(
          operation: "compress", path: part.plain, errno: SystemError.Number.damaged)
      }
    } else {
      try? File.remove(temporary)
    }
    try AtomicFile.syncDirectory(of: part.compressed)
    try File.remove(part.plain)
  }

  /// Whether the compressed file equals the plain one; a damaged one does not.
  ///
  /// - Throws: ``SystemError`` also if it contains more: then the plain one is not its source.
  private func isEqual(_ plain: OpenFile, _ part: LogPart) throws -> Bool {
    let length = try plain.status().length
    let compressed: CompressedPart
    do {
      compressed = try CompressedPart(part)
    } catch let error as SystemError where error.errno == SystemError.Number.damaged {
      return false
    }
    guard compressed.length.bytes <= length else {
      throw SystemError(operation: "compress", path: part.plain, errno: SystemError.Number.taken)
    }
    guard compressed.length.bytes == length else { return false }
    var position: Int64 = 0
    while position < length {
      let bytes = try plain.read(at: position, count: SegmentEncoder.frameLength)
      do {
        let other = try compressed.read(at: position, count: bytes.count)
        guard !bytes.isEmpty, other == bytes else { return false }
      } catch let error as SystemError where error.errno == SystemError.Number.damaged {
        return false
      }
      position += Int64(bytes.count)
    }
    return true
  }

  private func write(_ plain: OpenFile, of part: LogPart, to temporary: String) throws {
    let status = try plain.status()
    let output = try Descriptor(opening: temporary, [.write, .empty])
    let encoder = try SegmentEncoder()
    var reader = RecordReader(format, reference: status.modifiedAt)
    var position: Int64 = 0
    while position < status.length {
      let frame = try nextFrame(of: plain, from: position)
      guard !frame.isEmpty else { break }
      try frame.withUnsafeBytes { bytes in
        var statistics = LogStatistics(reader)
        statistics.add(bytes)
        statistics.finish()
        reader = statistics.reader
        try encoder.append(
          bytes, lines: statistics.lines, times: statistics.milliseconds,
          levels: statistics.counts, scenarios: bytes.last == 0x0a ? statistics.allScenarios : nil)
      }
      try encoder.drain().withUnsafeBytes { try output.write($0) }
      position += Int64(frame.count)
    }
    let end = encoder.finish(link: try link(before: part.start))
    try end.withUnsafeBytes { try output.write($0) }
    // Keep the log's modification time, which shows how old the part is.
    try output.setModified(status.modified)
    try output.synchronize()
  }

  /// At most one frame's bytes, cut after the last whole line if there is one.
  private func nextFrame(of plain: OpenFile, from position: Int64) throws -> [UInt8] {
    var bytes = try plain.read(at: position, count: SegmentEncoder.frameLength)
    guard bytes.count == SegmentEncoder.frameLength else { return bytes }
    if let newline = bytes.lastIndex(of: 0x0a) { bytes.removeSubrange((newline + 1)...) }
    return bytes
  }

  private func link(before offset: StreamOffset) throws -> Link {
    let log = try RecordedLog(files)
    let first = max(log.start, offset - ByteCount(Link.span))
    guard first < offset else { return .start }
    let bytes = try log.read(first..<offset)
    // Nothing of the log leads up to a part after a hole.
    guard ByteCount(bytes.count) == offset - first else { return .start }
    return Link(before: bytes[...])
  }
}

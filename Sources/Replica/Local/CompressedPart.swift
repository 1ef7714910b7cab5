package import Delta
package import Platform
package import SessionLog

/// Reads a compressed part by position, decompressing only the frames needed.
package final class CompressedPart: OpenPart {
  /// Length of its log in bytes.
  package let length: ByteCount
  /// Its frames, in order.
  package let frames: [Frame]

  /// A frame and its position.
  package struct Frame: Sendable {
    /// Its entry in the index.
    package let summary: FrameSummary
    /// Its log bytes, relative to the part's first.
    package let range: Range<Int64>
    /// Its offset in the file.
    let position: Int64
  }

  private let file: OpenFile
  private let decoder: SegmentDecoder
  /// The last decompressed frame.
  private var open: (start: Int64, bytes: [UInt8])?

  /// Opens a part.
  ///
  /// - Throws: ``Platform/SystemError``, also for a damaged file.
  package init(_ part: LogPart) throws {
    let file = try OpenFile(part.compressed)
    let frames = try Self.checking(file) { try Self.frames(of: file) }
    decoder = try Self.checking(file) { try SegmentDecoder() }
    self.file = file
    self.frames = frames
    length = ByteCount(frames.last?.range.upperBound ?? 0)
  }

  /// The file's status, including when its bytes were written.
  package func status() throws -> FileStatus { try file.status() }

  /// Reads at a position relative to the part's first byte.
  ///
  /// Sequential reads decompress each frame once.
  ///
  /// - Returns: fewer bytes than requested only at the end of the part.
  /// - Throws: ``SystemError``, also for damage.
  package func read(at position: Int64, count: Int) throws -> [UInt8] {
    let end = min(length.bytes, position + Int64(count))
    var bytes: [UInt8] = []
    var next = position
    while next < end {
      let frame = frames[frames.partitionPoint { $0.range.upperBound > next }]
      let raw = try decompress(frame)
      let upper = min(end, frame.range.upperBound)
      let start = frame.range.lowerBound
      bytes += raw[Int(next - start)..<Int(upper - start)]
      next = upper
    }
    return bytes
  }

  /// A frame as stored.
  ///
  /// - Throws: ``SystemError``.
  package func stored(_ frame: Frame) throws -> [UInt8] {
    let bytes = try file.read(at: frame.position, count: frame.summary.storedLength)
    guard bytes.count == frame.summary.storedLength else {
      throw SystemError(operation: "decompress", path: file.path, errno: SystemError.Number.damaged)
    }
    return bytes
  }

  private func decompress(_ frame: Frame) throws -> [UInt8] {
    if let open, open.start == frame.range.lowerBound { return open.bytes }
    open = nil
    let stored = try stored(frame)
    let bytes = try Self.checking(file) {
      try decoder.decode(frame.summary, of: stored, from: 0)
    }
    open = (frame.range.lowerBound, bytes)
    return bytes
  }

  /// Reports damage as an error of the file.
  private static func checking<Value>(_ file: OpenFile, _ body: () throws -> Value) throws -> Value
  {
    do {
      return try body()
    } catch is SegmentError {
      throw SystemError(operation: "decompress", path: file.path, errno: SystemError.Number.damaged)
    }
  }

  private static func frames(of file: OpenFile) throws -> [Frame] {
    let size = try file.status().length
    let footer = try tail(of: file, size, SegmentIndex.footerLength)
    let claimed = footer.prefix(4).reversed().reduce(0) { $0 << 8 | Int($1) }
    let end = try tail(of: file, size, min(claimed, SegmentIndex.maximumLength))
    let (index, indexLength) = try SegmentIndex.decode(endOf: end[...])
    var position: Int64 = 0
    var raw: Int64 = 0
    let frames = index.frames.map { summary in
      let range = raw..<raw + Int64(summary.rawLength)
      defer { (position, raw) = (position + Int64(summary.storedLength), range.upperBound) }
      return Frame(summary: summary, range: range, position: position)
    }
    guard index.delta == nil, position == size - Int64(indexLength) else {
      throw SegmentError(.corrupt, "the part's frames do not add up to its file")
    }
    return frames
  }

  private static func tail(of file: OpenFile, _ size: Int64, _ count: Int) throws -> [UInt8] {
    try file.read(at: max(0, size - Int64(count)), count: count)
  }
}

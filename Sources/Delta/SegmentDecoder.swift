import CZstd
import Platform

/// Decodes the log bytes of a segment, frame by frame, trusting nothing in it.
package final class SegmentDecoder {
  private let context: OpaquePointer

  /// Makes a decoder, which can be reused for many segments by one task at a time.
  ///
  /// - Throws: ``SegmentError`` if there is not enough memory.
  package init() throws(SegmentError) {
    guard let context = ZSTD_createDCtx() else {
      throw SegmentError(.compression, "zstd has no memory for a decompressor")
    }
    self.context = context
  }

  deinit { ZSTD_freeDCtx(context) }

  /// Decodes a whole plain segment; for others use ``SegmentReader``.
  ///
  /// - Parameters:
  ///   - segment: all bytes of the object.
  ///   - rawLength: the number of log bytes in its name; any other number is an error.
  ///   - body: called with each frame's log bytes in order, at most ``SegmentEncoder/frameLength``
  ///     at a time.
  /// - Returns: the segment's index.
  /// - Throws: ``SegmentError`` for damage; bytes passed to `body` before may be used only if the
  ///   caller verifies the whole by hash.
  @discardableResult
  package func decode(
    _ segment: [UInt8], rawLength: Int, _ body: (UnsafeRawBufferPointer) throws -> Void
  ) throws -> SegmentIndex {
    let length = Int64(rawLength)
    // The first generation has no earlier one to copy from.
    var reader = try SegmentReader(segment, generation: 1, length: length, decoder: self)
    defer { reader.close() }
    try reader.read(0..<length, body)
    return reader.index
  }

  /// Decompresses one frame.
  ///
  /// - Parameters:
  ///   - frame: the frame's entry in the index.
  ///   - segment: the object, or a part of it.
  ///   - offset: start of the frame in it.
  /// - Throws: ``SegmentError`` if it is damaged or incomplete.
  package func decode(
    _ frame: FrameSummary, of segment: [UInt8], from offset: Int
  ) throws(SegmentError) -> [UInt8] {
    guard offset >= 0, frame.storedLength <= segment.count - offset else {
      throw SegmentError(.truncated, "a frame ends after the bytes that are there")
    }
    var raw = BufferPool.acquire(frame.rawLength)
    let length = raw.withUnsafeMutableBytes { raw in
      segment.withUnsafeBytes { source in
        ZSTD_decompressDCtx(
          context, raw.baseAddress, raw.count, source.baseAddress.map { $0 + offset },
          frame.storedLength)
      }
    }
    guard ZSTD_isError(length) == 0 else {
      throw SegmentError(
        .corrupt, "a frame does not decompress: \(String(cString: ZSTD_getErrorName(length)))")
    }
    guard length == frame.rawLength else {
      throw SegmentError(.corrupt, "a frame holds \(length) bytes, not \(frame.rawLength)")
    }
    return raw
  }

  /// Decompresses the start of a plain segment whose end may be damaged or missing.
  ///
  /// - Parameters:
  ///   - segment: the object, damaged or truncated.
  ///   - limit: maximum number of log bytes wanted.
  ///   - body: called with each whole frame's log bytes in order.
  /// - Throws: errors of `body`.
  package func salvage(
    _ segment: [UInt8], upTo limit: Int64, _ body: (UnsafeRawBufferPointer) throws -> Void
  ) rethrows {
    var offset = 0
    var length: Int64 = 0
    while offset < segment.count, length < limit {
      let (stored, raw) = segment.withUnsafeBytes { bytes in
        let frame = bytes[offset...]
        let start = UnsafeRawBufferPointer(rebasing: frame).baseAddress
        return (
          ZSTD_findFrameCompressedSize(start, frame.count),
          ZSTD_getFrameContentSize(start, frame.count)
        )
      }
      // The size is unknown, too large for one of our frames, or an error code.
      guard ZSTD_isError(stored) == 0, stored > 0, raw > 0, raw <= SegmentEncoder.frameLength
      else { return }
      let frame = FrameSummary(
        storedLength: stored, rawLength: Int(raw), lines: 0, times: nil, levels: [])
      guard let bytes = try? decode(frame, of: segment, from: offset) else { return }
      offset += stored
      length += Int64(raw)
      defer { BufferPool.release(bytes) }
      try bytes.withUnsafeBytes(body)
    }
  }
}

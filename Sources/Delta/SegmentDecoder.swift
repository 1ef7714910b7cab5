import CZstd

/// Gives back the log bytes of a segment, frame by frame, trusting nothing in it.
public final class SegmentDecoder {
  private let context: OpaquePointer

  /// Makes a decoder, to be reused for many segments by one task at a time.
  ///
  /// - Throws: ``SegmentError`` when there is no memory for it.
  public init() throws(SegmentError) {
    guard let context = ZSTD_createDCtx() else {
      throw SegmentError(.compression, "zstd has no memory for a decompressor")
    }
    self.context = context
  }

  deinit { ZSTD_freeDCtx(context) }

  /// Decodes a whole segment.
  ///
  /// - Parameters:
  ///   - segment: all bytes of the object.
  ///   - rawLength: the log bytes that its name promises; anything else is an error.
  ///   - body: called with each frame's log bytes in order, at most
  ///     ``SegmentEncoder/frameLength`` at a time.
  /// - Returns: the segment's index.
  /// - Throws: ``SegmentError`` for damage; what `body` was given before may already be used only
  ///   where the caller checks the whole by hash.
  @discardableResult
  public func decode(
    _ segment: [UInt8], rawLength: Int, _ body: (UnsafeRawBufferPointer) throws -> Void
  ) throws -> SegmentIndex {
    let (index, indexLength) = try SegmentIndex.decode(endOf: segment[...])
    let framesLength = segment.count - indexLength
    guard index.rawLength == rawLength,
      index.frames.reduce(0, { $0 + $1.storedLength }) == framesLength
    else { throw SegmentError(.corrupt, "the segment's frames do not add up to what it promises") }

    var offset = 0
    for frame in index.frames {
      try decode(segment, from: offset, frame: frame, body)
      offset += frame.storedLength
    }
    return index
  }

  private func decode(
    _ segment: [UInt8], from offset: Int, frame: FrameSummary,
    _ body: (UnsafeRawBufferPointer) throws -> Void
  ) throws {
    guard frame.rawLength <= SegmentEncoder.frameLength else {
      throw SegmentError(.corrupt, "a frame claims \(frame.rawLength) bytes, more than allowed")
    }
    var result = 0
    let raw = [UInt8](unsafeUninitializedCapacity: frame.rawLength) { buffer, count in
      result = segment.withUnsafeBytes { source in
        ZSTD_decompressDCtx(
          context, buffer.baseAddress, frame.rawLength,
          source.baseAddress.map { $0 + offset }, frame.storedLength)
      }
      count = ZSTD_isError(result) == 0 ? result : 0
    }
    guard ZSTD_isError(result) == 0 else {
      throw SegmentError(
        .corrupt, "a frame does not decompress: \(String(cString: ZSTD_getErrorName(result)))")
    }
    guard raw.count == frame.rawLength else {
      throw SegmentError(.corrupt, "a frame holds \(raw.count) bytes, not \(frame.rawLength)")
    }
    try raw.withUnsafeBytes(body)
  }
}

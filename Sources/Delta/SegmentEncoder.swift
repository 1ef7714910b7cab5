import CZstd

/// Compresses log bytes into independent zstd frames; one is reused for many segments.
///
/// Not thread-safe and not `Sendable`: each belongs to one task at a time.
public final class SegmentEncoder {
  /// Log bytes in one frame at most (2 MiB; frames of 256 KiB cost 20 % more bytes on log text).
  public static let frameLength = 2 << 20
  /// zstd's level: on log text 3 is the knee of ratio against speed.
  public static let compressionLevel: Int32 = 3

  private let context: OpaquePointer
  private var stored: [UInt8] = []
  /// Room for one frame; of what zstd does not write to, no memory is taken.
  private let compressed = UnsafeMutableRawBufferPointer.allocate(
    byteCount: ZSTD_compressBound(SegmentEncoder.frameLength), alignment: 16)
  private var frames: [FrameSummary] = []

  /// Makes an encoder.
  ///
  /// - Throws: ``SegmentError`` when there is no memory for it.
  public init() throws(SegmentError) {
    guard let context = ZSTD_createCCtx() else {
      throw SegmentError(.compression, "zstd has no memory for a compressor")
    }
    self.context = context
    ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, Self.compressionLevel)
    ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1)
  }

  deinit {
    ZSTD_freeCCtx(context)
    compressed.deallocate()
  }

  /// Compressed bytes so far, the index not counted.
  public var storedLength: Int { stored.count }

  /// Adds one frame.
  ///
  /// - Parameters:
  ///   - bytes: 1 to ``frameLength`` log bytes.
  ///   - summary: lines, times and levels of these bytes; the lengths are filled in here.
  /// - Throws: ``SegmentError`` when zstd fails.
  public func append(
    _ bytes: UnsafeRawBufferPointer, lines: Int, times: ClosedRange<Int64>?, levels: [Int]
  ) throws(SegmentError) {
    let written = ZSTD_compress2(
      context, compressed.baseAddress, compressed.count, bytes.baseAddress, bytes.count)
    guard ZSTD_isError(written) == 0 else {
      throw SegmentError(
        .compression, "zstd could not compress: \(String(cString: ZSTD_getErrorName(written)))")
    }
    stored.append(contentsOf: UnsafeRawBufferPointer(compressed)[..<written])
    frames.append(
      FrameSummary(
        storedLength: written, rawLength: bytes.count, lines: lines, times: times,
        levels: levels))
  }

  /// Adds a frame that is compressed already.
  ///
  /// - Parameters:
  ///   - frame: the frame's bytes, as this compressor or another made them.
  ///   - summary: what it holds.
  public func append(compressed frame: [UInt8], _ summary: FrameSummary) {
    stored += frame
    frames.append(summary)
  }

  /// Forgets what was added: the segment that it was for cannot be made.
  public func reset() {
    // The next segment takes the same room.
    stored.removeAll(keepingCapacity: true)
    frames = []
  }

  /// Hands over the compressed bytes so far, so that they need not stay in memory; what
  /// ``finish(link:delta:)`` returns follows them.
  package func drain() -> [UInt8] {
    defer { stored = [] }
    return stored
  }

  /// Ends the segment and makes the encoder ready for the next.
  ///
  /// - Parameters:
  ///   - link: the stream just before the segment's first byte.
  ///   - delta: for a delta segment how its stream bytes are made; its literals, together as long
  ///     as the frames, were added as these.
  /// - Returns: the whole object.
  public func finish(link: Link, delta: DeltaInstructions? = nil) -> [UInt8] {
    defer { reset() }
    let index = SegmentIndex(frames: frames, link: link, delta: delta)
    precondition(delta.map { $0.literalLength == Int64(index.rawLength) } ?? true)
    stored += index.encoded()
    return stored.withUnsafeBytes(Array.init)
  }
}

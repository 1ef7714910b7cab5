import CZstd

/// Compresses log bytes into independent zstd frames; one encoder is reused for many segments.
///
/// Not thread-safe and not `Sendable`: each belongs to one task at a time.
package final class SegmentEncoder {
  /// Maximum log bytes in one frame (2 MiB; frames of 256 KiB cost 20 % more bytes on log text).
  package static let frameLength = 2 << 20
  /// The zstd level for a frame of this many log bytes.
  ///
  /// Measured on the logs of nine programs: frames of 2 MiB are as small at level 1 as at level 3,
  /// 1.4 times as fast; those of a tick, 20 KB, are 7 to 11 % smaller at level 7 than at 3, for
  /// half a millisecond each, and so are those that cover 64 ticks of a kilobyte. For longer ones
  /// level 7 would need megabytes of memory.
  static func compressionLevel(for count: Int) -> Int32 { count <= 128 << 10 ? 7 : 1 }

  private let context: OpaquePointer
  private var stored: [UInt8] = []
  /// Space for one frame; pages that zstd does not write to use no memory.
  private let compressed = UnsafeMutableRawBufferPointer.allocate(
    byteCount: ZSTD_compressBound(SegmentEncoder.frameLength), alignment: 16)
  private var frames: [FrameSummary] = []

  /// Makes an encoder.
  ///
  /// - Throws: ``SegmentError`` if there is not enough memory.
  package init() throws(SegmentError) {
    guard let context = ZSTD_createCCtx() else {
      throw SegmentError(.compression, "zstd has no memory for a compressor")
    }
    self.context = context
    ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1)
  }

  deinit {
    ZSTD_freeCCtx(context)
    compressed.deallocate()
  }

  /// Compressed bytes so far, without the index.
  package var storedLength: Int { stored.count }

  /// Adds one frame.
  ///
  /// - Parameters:
  ///   - bytes: 1 to ``frameLength`` log bytes.
  ///   - summary: lines, times, levels and scenarios of these bytes; the lengths are filled in
  ///     here.
  /// - Throws: ``SegmentError`` if zstd fails.
  package func append(
    _ bytes: UnsafeRawBufferPointer, lines: Int, times: ClosedRange<Int64>?, levels: [Int],
    scenarios: [[UInt8]]? = nil
  ) throws(SegmentError) {
    ZSTD_CCtx_setParameter(
      context, ZSTD_c_compressionLevel, Self.compressionLevel(for: bytes.count))
    let written = ZSTD_compress2(
      context, compressed.baseAddress, compressed.count, bytes.baseAddress, bytes.count)
    guard ZSTD_isError(written) == 0 else {
      throw SegmentError(
        .compression, "zstd could not compress: \(String(cString: ZSTD_getErrorName(written)))")
    }
    let frame = UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(compressed)[..<written])
    stored.append(contentsOf: frame)
    var summary = FrameSummary(
      storedLength: written, rawLength: bytes.count, lines: lines, times: times,
      levels: levels, scenarios: scenarios)
    summary.hash = ContentHash(of: frame)
    frames.append(summary)
  }

  /// Adds a compressed frame.
  ///
  /// - Parameters:
  ///   - frame: the frame's bytes, from this compressor or another.
  ///   - summary: its summary.
  package func append(compressed frame: [UInt8], _ summary: FrameSummary) {
    stored += frame
    var summary = summary
    summary.hash = ContentHash(of: frame[...])
    frames.append(summary)
  }

  /// Begins a segment.
  ///
  /// Discards everything added for an unfinished segment.
  ///
  /// - Parameters:
  ///   - length: maximum log bytes to be added.
  ///   - limit: compressed size from which no more frames will be added.
  package func begin(length: Int64 = 0, limit: Int = .max) {
    // Unused space takes no memory; growing would copy the content repeatedly.
    let most = min(length, Int64(min(limit, 1 << 30)) + Int64(Self.frameLength))
    stored = []
    stored.reserveCapacity(ZSTD_compressBound(Int(most)))
    frames = []
  }

  /// Returns and removes the compressed bytes so far, to save memory; the result of
  /// ``finish(link:delta:)`` follows them.
  package func drain() -> [UInt8] {
    defer { stored = [] }
    return stored
  }

  /// Ends the segment and prepares the encoder for the next.
  ///
  /// - Parameters:
  ///   - link: fingerprint of the stream just before the segment's first byte.
  ///   - delta: for a delta segment, the instructions that produce its stream bytes; its literals
  ///     were added as the frames.
  /// - Returns: the whole object.
  package func finish(link: Link, delta: DeltaInstructions? = nil) -> [UInt8] {
    defer { begin() }
    let index = SegmentIndex(frames: frames, link: link, delta: delta)
    precondition(delta.map { $0.literalLength == Int64(index.rawLength) } ?? true)
    stored += index.encoded()
    return stored
  }
}

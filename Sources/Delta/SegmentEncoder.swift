import CZstd

/// Compresses log bytes into independent zstd frames; one is reused for many segments.
///
/// Not thread-safe and not `Sendable`: each belongs to one task at a time.
package final class SegmentEncoder {
  /// Log bytes in one frame at most (2 MiB; frames of 256 KiB cost 20 % more bytes on log text).
  package static let frameLength = 2 << 20
  /// zstd's level for a frame of so many log bytes.
  ///
  /// Measured on the logs of nine programs: in frames of 2 MiB level 1 makes them as small as level 3
  /// does, 1.4 times as fast; those of a tick, 20 KB, are 7 to 11 % smaller at level 7 than at 3, for
  /// half a millisecond each, and so is what covers 64 ticks of a kilobyte. For longer ones it would
  /// take megabytes of memory.
  static func compressionLevel(for count: Int) -> Int32 { count <= 128 << 10 ? 7 : 1 }

  private let context: OpaquePointer
  private var stored: [UInt8] = []
  /// Space for one frame; of what zstd does not write to, no memory is taken.
  private let compressed = UnsafeMutableRawBufferPointer.allocate(
    byteCount: ZSTD_compressBound(SegmentEncoder.frameLength), alignment: 16)
  private var frames: [FrameSummary] = []

  /// Makes an encoder.
  ///
  /// - Throws: ``SegmentError`` when there is no memory for it.
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

  /// Compressed bytes so far, the index not counted.
  package var storedLength: Int { stored.count }

  /// Adds one frame.
  ///
  /// - Parameters:
  ///   - bytes: 1 to ``frameLength`` log bytes.
  ///   - summary: lines, times and levels of these bytes; the lengths are filled in here.
  /// - Throws: ``SegmentError`` when zstd fails.
  package func append(
    _ bytes: UnsafeRawBufferPointer, lines: Int, times: ClosedRange<Int64>?, levels: [Int]
  ) throws(SegmentError) {
    ZSTD_CCtx_setParameter(
      context, ZSTD_c_compressionLevel, Self.compressionLevel(for: bytes.count))
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
  package func append(compressed frame: [UInt8], _ summary: FrameSummary) {
    stored += frame
    frames.append(summary)
  }

  /// Begins a segment.
  ///
  /// Forgets what was added: the segment that it was for cannot be made.
  ///
  /// - Parameters:
  ///   - length: log bytes that are to be added at the most.
  ///   - limit: compressed bytes after which no frame is to be added any more.
  package func begin(length: Int64 = 0, limit: Int = .max) {
    // Space that stays empty takes no memory; growing would copy what is there, again and again.
    let most = min(length, Int64(min(limit, 1 << 30)) + Int64(Self.frameLength))
    stored = []
    stored.reserveCapacity(ZSTD_compressBound(Int(most)))
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
  package func finish(link: Link, delta: DeltaInstructions? = nil) -> [UInt8] {
    defer { begin() }
    let index = SegmentIndex(frames: frames, link: link, delta: delta)
    precondition(delta.map { $0.literalLength == Int64(index.rawLength) } ?? true)
    stored += index.encoded()
    return stored
  }
}

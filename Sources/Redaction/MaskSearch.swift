package import LogRecords

/// Finds what a redactor masks in a stream of any length, with only a part of it in memory.
///
/// The ranges cover the same bytes as those of the whole stream at once: each part is masked
/// together with the context before and after it. A mask that extends over several parts is
/// reported as adjacent ranges.
package struct MaskSearch: Sendable {
  private let redactor: Redactor
  private let format: LogFormat
  /// Number of bytes examined at once.
  private let stride: Int
  /// The bytes to be examined, after the context of the first of them.
  private var buffer: [UInt8] = []
  /// Stream offset of its first byte.
  private var start: Int64
  /// Number of its bytes that were examined.
  private var done = 0

  /// The usual number of bytes to examine at once.
  package static let usualStride = 1 << 20

  /// Begins a search.
  ///
  /// - Parameters:
  ///   - redactor: the rules.
  ///   - format: the stream's format.
  ///   - offset: stream offset of the first byte.
  ///   - stride: number of bytes to examine at once, at least 1.
  package init(
    _ redactor: Redactor, _ format: LogFormat, at offset: Int64 = 0,
    stride: Int = MaskSearch.usualStride
  ) {
    self.redactor = redactor
    self.format = format
    self.stride = stride
    start = offset
  }

  /// Adds the next bytes of the stream.
  ///
  /// - Returns: the masked ranges, as stream offsets and in order, of the bytes whose context is
  ///   now known.
  package mutating func add(_ bytes: UnsafeRawBufferPointer) -> [Range<Int64>] {
    var found: [Range<Int64>] = []
    var rest = bytes[...]
    while !rest.isEmpty {
      let full = done + stride + Redactor.context
      let next = rest.prefix(full - buffer.count)
      buffer += UnsafeRawBufferPointer(rebasing: next)
      rest = rest.dropFirst(next.count)
      if buffer.count == full { found += examine(upTo: done + stride) }
    }
    return found
  }

  /// Ends the stream.
  ///
  /// - Returns: the masked ranges of the remaining bytes.
  package mutating func finish() -> [Range<Int64>] { examine(upTo: buffer.count) }

  private mutating func examine(upTo end: Int) -> [Range<Int64>] {
    var masked = buffer
    let part = done..<end
    let found = redactor.mask(&masked, at: start, format)
      .filter { $0.range.overlaps(part) }
      .map { redaction -> Range<Int64> in
        let range = redaction.range.clamped(to: part)
        return start + Int64(range.lowerBound)..<start + Int64(range.upperBound)
      }
    // Keep the context of the following bytes.
    let kept = max(0, end - Redactor.context)
    buffer.removeFirst(kept)
    start += Int64(kept)
    done = end - kept
    return found
  }
}

/// A part of an object, in bytes.
public enum ByteRange: Sendable, Hashable {
  /// `count` bytes from `offset` on.
  case bytes(offset: Int64, count: Int64)
  /// The last bytes, at most this many.
  case suffix(Int64)

  /// The value of an HTTP `Range` header; nil when the range holds no byte.
  package var header: String? {
    switch self {
    case .bytes(let offset, let count):
      let (last, overflow) = offset.addingReportingOverflow(count - 1)
      guard offset >= 0, count > 0, !overflow else { return nil }
      return "bytes=\(offset)-\(last)"
    case .suffix(let count):
      return count > 0 ? "bytes=-\(count)" : nil
    }
  }

  /// The positions of this range in an object of `size` bytes, clamped to what there is.
  package func resolved(size: Int64) -> Range<Int64> {
    switch self {
    case .bytes(let offset, let count):
      let start = min(max(offset, 0), size)
      return start..<(start + min(max(count, 0), size - start))
    case .suffix(let count):
      return (size - min(max(count, 0), size))..<size
    }
  }
}

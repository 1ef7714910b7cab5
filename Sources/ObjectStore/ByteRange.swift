package import Platform

/// A part of an object.
package enum ByteRange: Sendable, Hashable {
  /// The whole object, if it has at most this many bytes.
  ///
  /// A larger object fails with ``StoreError/Code/integrity`` before more than that is read.
  case whole(atMost: ByteCount)
  /// `count` bytes from an offset in the object.
  case bytes(offset: Int64, count: ByteCount)
  /// The last bytes, at most this many.
  case suffix(ByteCount)

  /// The value of an HTTP `Range` header; nil for a whole object, and when the range holds no byte.
  package var header: String? {
    switch self {
    case .whole: return nil
    case .bytes(let offset, let count):
      let (last, overflow) = offset.addingReportingOverflow(count.bytes - 1)
      guard offset >= 0, count > 0, !overflow else { return nil }
      return "bytes=\(offset)-\(last)"
    case .suffix(let count):
      return count > 0 ? "bytes=-\(count)" : nil
    }
  }

  /// Whether the range holds no byte, however long the object is.
  var isEmpty: Bool {
    if case .whole = self { return false }
    return header == nil
  }

  /// Maximum body size of the answer; nil for the transport's own limit.
  ///
  /// An error's answer has a body too, however small the object is.
  var responseLimit: Int? {
    guard case .whole(let limit) = self else { return nil }
    return Int(clamping: max(limit, 1 << 20))
  }

  /// The error for an object larger than ``whole(atMost:)`` allows; nil if it is not.
  package func refusal(ofSize size: ByteCount, _ target: String) -> StoreError? {
    guard case .whole(let limit) = self, size > limit else { return nil }
    return StoreError(
      .integrity, operation: "GET", target: target,
      response: "\(size) bytes, where at most \(limit) can be",
      advice: "Another program has written it, or the store is damaged; it is not read.")
  }

  /// The positions of this range in an object of a given size, clamped to it.
  package func resolved(size: ByteCount) -> Range<Int64> {
    let size = size.bytes
    switch self {
    case .whole: return 0..<size
    case .bytes(let offset, let count):
      let start = min(max(offset, 0), size)
      return start..<(start + min(max(count.bytes, 0), size - start))
    case .suffix(let count):
      return (size - min(max(count.bytes, 0), size))..<size
    }
  }
}

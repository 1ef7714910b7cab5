/// Reads integers and byte sequences from hostile input; every overrun is an error.
struct ByteReader {
  private var rest: ArraySlice<UInt8>

  init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

  var isAtEnd: Bool { rest.isEmpty }

  mutating func byte() throws(SegmentError) -> UInt8 {
    guard let first = rest.popFirst() else {
      throw SegmentError(.truncated, "the segment index ends too early")
    }
    return first
  }

  mutating func varint() throws(SegmentError) -> UInt64 {
    var value: UInt64 = 0
    for shift in stride(from: 0, to: 64, by: 7) {
      let next = try byte()
      let bits = UInt64(next & 0x7f)
      guard shift < 63 || bits <= 1 else { break }
      value |= bits << UInt64(shift)
      if next & 0x80 == 0 { return value }
    }
    throw SegmentError(.corrupt, "the segment index holds a number of more than 64 bits")
  }

  /// A length, a count or a duration in milliseconds.
  ///
  /// - Parameter limit: the maximum; by default one for which no sum in an index can overflow.
  mutating func count(upTo limit: Int = 1 << 40) throws(SegmentError) -> Int {
    guard let value = Int(exactly: try varint()), value <= limit else {
      throw SegmentError(.corrupt, "the segment index holds a number out of range")
    }
    return value
  }

  mutating func bytes(_ count: Int) throws(SegmentError) -> ArraySlice<UInt8> {
    guard count <= rest.count else {
      throw SegmentError(.truncated, "the segment index ends too early")
    }
    defer { rest = rest.dropFirst(count) }
    return rest.prefix(count)
  }
}

/// Splits a stream into blocks at boundaries determined by its content, however the stream is
/// delivered.
///
/// A gear hash (``GearTable``) runs over the stream. Where its top bits are zero, which happens
/// once in 2 KiB of random bytes, the block ends; but never before ``minimum`` bytes, which are
/// therefore not hashed (like FastCDC: Xia et al., "FastCDC: A Fast and Efficient Content-Defined
/// Chunking Approach for Data Deduplication", 2016). An edit moves only the boundaries around it.
///
/// Input without such a position (zeros, a short line repeated) is split after at most ``maximum``
/// bytes: after the smallest hash among the last of them, so that a repeated pattern of up to 1984
/// bytes is always split at the same position of the pattern, and its blocks are equal.
///
/// The state is a few numbers. It depends only on the bytes since the last boundary, so that a new
/// splitter started at any boundary finds the same ones.
package struct BlockSplitter: Sendable {
  /// Shortest block in bytes; at half of the average, random input still resynchronizes within a
  /// block or two, and hostile input cannot make more than twice the blocks.
  package static let minimum = 2048
  /// Average length of blocks of random bytes.
  package static let average = 4096
  /// Longest block in bytes; reached by one random block in a thousand.
  package static let maximum = 16_384

  /// The end of a block.
  package struct Boundary: Sendable, Equatable {
    /// Length of the block that ends there, in bytes.
    package let length: Int
    /// Number of zero bits of the hash beyond those that a boundary needs: each level is half as
    /// frequent as the one below, and a boundary of a level is also one of all lower levels.
    package let level: Int
  }

  /// Number of bytes that one value of the hash covers.
  private static let window = 64
  /// Zero bits that end a block, which random bytes do after another `average - minimum`.
  private static let bits = (average - minimum).trailingZeroBitCount
  private static let threshold: UInt64 = 1 << (64 - bits)
  private static let hashedFrom = minimum - window
  /// Length from which the smallest hash is tracked.
  ///
  /// When the block has reached its maximum, the bytes after that hash belong to the next block's
  /// start, which is not hashed: no byte is hashed twice.
  private static let fallbackFrom = maximum - hashedFrom

  /// Number of bytes hashed so far; none is hashed twice.
  private(set) var hashedLength: Int64 = 0

  private var length = 0
  private var hash: UInt64 = 0
  private var smallest = UInt64.max
  private var smallestAt = 0

  /// Makes a splitter for a stream that begins, or continues, at a block boundary.
  package init() {}

  /// Number of bytes that belong to no finished block yet.
  package var openLength: Int { length }

  /// Appends the next bytes of the stream.
  ///
  /// A boundary may be up to 1984 bytes before the bytes that reveal it.
  ///
  /// - Parameters:
  ///   - bytes: any number of bytes.
  ///   - body: called for each finished block, in order.
  package mutating func append(
    _ bytes: UnsafeRawBufferPointer, _ body: (Boundary) throws -> Void
  ) rethrows {
    try GearTable.numbers.withUnsafeBufferPointer { numbers in
      var offset = 0
      while offset < bytes.count {
        let skipped = min(bytes.count - offset, max(0, Self.hashedFrom - length))
        length += skipped
        offset += skipped
        let start = offset
        warmUp(bytes, &offset, numbers)
        let boundary = find(bytes, &offset, numbers) ?? findNearEnd(bytes, &offset, numbers)
        hashedLength += Int64(offset - start)
        if let boundary { try body(boundary) }
      }
    }
  }

  /// Fills the hash's window before the first position where a block may end.
  private mutating func warmUp(
    _ bytes: UnsafeRawBufferPointer, _ offset: inout Int, _ numbers: UnsafeBufferPointer<UInt64>
  ) {
    let stop = min(bytes.count, offset + max(0, Self.minimum - 1 - length))
    for byte in bytes[offset..<stop] { hash = (hash << 1) &+ numbers[Int(byte)] }
    length += stop - offset
    offset = stop
  }

  private mutating func find(
    _ bytes: UnsafeRawBufferPointer, _ offset: inout Int, _ numbers: UnsafeBufferPointer<UInt64>
  ) -> Boundary? {
    let stop = min(bytes.count, offset + max(0, Self.fallbackFrom - length))
    var (hash, place) = (hash, offset)
    defer { offset = place }
    while place < stop {
      hash = (hash &<< 1) &+ numbers[Int(bytes[place])]
      place &+= 1
      if hash < Self.threshold {
        length += place - offset
        return end(at: length, hash)
      }
    }
    length += place - offset
    self.hash = hash
    return nil
  }

  private mutating func findNearEnd(
    _ bytes: UnsafeRawBufferPointer, _ offset: inout Int, _ numbers: UnsafeBufferPointer<UInt64>
  ) -> Boundary? {
    guard length >= Self.fallbackFrom else { return nil }
    let stop = min(bytes.count, offset + Self.maximum - length)
    while offset < stop {
      hash = (hash &<< 1) &+ numbers[Int(bytes[offset])]
      offset += 1
      length += 1
      if hash < Self.threshold { return end(at: length, hash) }
      if hash <= smallest {
        smallest = hash
        smallestAt = length
      }
    }
    return length == Self.maximum ? end(at: smallestAt, smallest) : nil
  }

  /// Starts the next block, which includes the bytes after the boundary.
  private mutating func end(at boundary: Int, _ hash: UInt64) -> Boundary {
    length -= boundary
    self.hash = 0
    smallest = .max
    return Boundary(length: boundary, level: max(0, hash.leadingZeroBitCount - Self.bits))
  }
}

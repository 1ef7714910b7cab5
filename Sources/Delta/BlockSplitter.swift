/// Cuts a stream into blocks where its content says so, whatever the pieces in which it comes.
///
/// A gear hash (``GearTable``) runs over the stream. Where its top bits are zero, which random bytes
/// reach once in 2 KiB, the block ends; but never before ``minimum`` bytes, which are therefore not
/// even looked at (as FastCDC does: Xia et al., "FastCDC: A Fast and Efficient Content-Defined
/// Chunking Approach for Data Deduplication", 2016). An edit moves the boundaries around it and no
/// others.
///
/// Input without such a place (zeros, a short line over and over) is cut at the latest after
/// ``maximum`` bytes: behind the smallest hash among the last of them, so that a repeated pattern of
/// up to 1984 bytes is cut at the same place of the pattern each time and its blocks are equal.
///
/// The state is a few numbers. It depends on the bytes since the last boundary alone, so that a
/// fresh splitter that is given the stream from any boundary on finds the same ones.
package struct BlockSplitter: Sendable {
  /// Shortest block in bytes; at half of the average random input still falls into step again
  /// within a block or two, and hostile input cannot make more than twice the blocks.
  package static let minimum = 2048
  /// Length of blocks of random bytes, on average.
  package static let average = 4096
  /// Longest block in bytes; one random block in a thousand is cut by it.
  package static let maximum = 16_384

  /// The end of a block.
  package struct Boundary: Sendable, Equatable {
    /// Length of the block that ends there, in bytes.
    package let length: Int
    /// How many more bits of the hash were zero than a boundary needs: each level is half as
    /// frequent as the one below, and every boundary of a level is one of all lower levels.
    package let level: Int
  }

  /// Bytes that one value of the hash covers.
  private static let window = 64
  /// Zero bits that end a block: random bytes do so after `average - minimum` more.
  private static let bits = (average - minimum).trailingZeroBitCount
  private static let threshold: UInt64 = 1 << (64 - bits)
  private static let hashedFrom = minimum - window
  /// Length from which on the smallest hash is kept.
  ///
  /// What lies behind it when the block has reached its maximum belongs to the next block's start,
  /// which is not hashed: no byte is looked at twice.
  private static let fallbackFrom = maximum - hashedFrom

  /// Bytes that went through the hash so far: no byte does so twice.
  private(set) var hashedLength: Int64 = 0

  private var length = 0
  private var hash: UInt64 = 0
  private var smallest = UInt64.max
  private var smallestAt = 0

  /// Makes a splitter for a stream that begins, or goes on, at a block boundary.
  package init() {}

  /// Bytes that were given and belong to no finished block yet.
  package var openLength: Int { length }

  /// Takes the next bytes of the stream.
  ///
  /// A boundary may lie up to 1984 bytes before the bytes in which it is found.
  ///
  /// - Parameters:
  ///   - bytes: any number of bytes.
  ///   - body: called for each block that ends, in order.
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

  /// Fills the hash's window before the first place where a block may end.
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

  /// Starts the next block, to which the bytes between the boundary and those seen belong.
  private mutating func end(at boundary: Int, _ hash: UInt64) -> Boundary {
    length -= boundary
    self.hash = 0
    smallest = .max
    return Boundary(length: boundary, level: max(0, hash.leadingZeroBitCount - Self.bits))
  }
}

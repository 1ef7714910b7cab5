/// The levels of blocks, which grow with the stream so that its signature grows more slowly.
///
/// A block of level n consists of the blocks of level 0 up to the first whose boundary has that
/// level: 2^n of them on average. Blocks that begin in the first GiB have level 0 (4 KiB on
/// average), in the second 1 (8 KiB), in the third and fourth 2, in the next four 3, and so on up
/// to 8 (1 MiB). So a signature has at most a quarter of a million blocks of average length for the
/// first GiB, and half of that for each doubling of the stream.
enum BlockLevel {
  static let highest = 8

  /// The level of the block that begins at a stream offset.
  static func of(_ offset: Int64) -> Int {
    min(highest, Int64.bitWidth - (offset >> 30).leadingZeroBitCount)
  }

  /// Whether a block of a level ends with the `count`-th block of level 0.
  ///
  /// At least a quarter and at most four times the average number: the minimum bounds the signature
  /// of hostile input, the maximum an encoder's memory.
  static func ends(_ level: Int, count: Int, with block: Block) -> Bool {
    let average = 1 << level
    return block.level >= level && count * 4 >= average || count == average * 4
  }

  /// Possible lengths of a block of a level, in bytes.
  static func lengths(_ level: Int) -> ClosedRange<Int> {
    let average = 1 << level
    let (fewest, most) = level == 0 ? (1, 1) : (max(1, average / 4), average * 4)
    return fewest * BlockSplitter.minimum...most * BlockSplitter.maximum
  }
}

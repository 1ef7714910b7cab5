/// Finds the parts that a stream shares with a basis, given only the basis's signature.
///
/// Both are split by content, so shared parts are split alike in both, and looking up each block
/// finds them at any offset. If the basis has blocks of higher levels, the stream's blocks are
/// combined into blocks of these levels too.
///
/// The work is linear in the stream. Memory is a few blocks for a basis of less than 1 GiB, and at
/// most four average blocks of the basis's highest level, 16 MiB for the largest.
package struct DeltaEncoder: Sendable {
  /// A part of the stream, in order.
  package struct Piece {
    /// Its bytes, at most ``BlockSplitter/maximum``; valid only during the call.
    package let bytes: UnsafeRawBufferPointer
    /// The range of the same bytes in the basis; nil if not found there.
    package let source: Range<Int64>?
    /// The block it is, for the stream's own signature; nil for the rest after the last block.
    package let block: Block?
  }

  private struct Waiting {
    let block: Block
    let bytes: [UInt8]
    var source: Int64?
  }

  /// Stream bytes found in the basis.
  package private(set) var copiedLength: Int64 = 0
  /// Stream bytes not found in the basis.
  package private(set) var literalLength: Int64 = 0

  /// Number of blocks looked up in the basis: at most one per level and block of level 0.
  private(set) var lookups = 0

  private let basis: BlockIndex
  private var hasher = BlockHasher()
  /// Blocks from `first` on that may still be part of a block of some level.
  private var waiting: [Waiting] = []
  private var first = 0
  /// By level, the index of the first block of the open block of that level.
  private var starts: [Int]
  /// By level, the index of the basis's block that would continue the last match.
  private var expected: [Int]

  /// Makes an encoder for a stream from its start.
  package init(basis: BlockIndex) {
    self.basis = basis
    let last = basis.signature.count - 1
    let highest = last < 0 ? 0 : BlockLevel.of(basis.signature.range(last).lowerBound)
    starts = Array(repeating: 0, count: highest + 1)
    expected = starts
  }

  /// Appends the next bytes of the stream.
  ///
  /// - Parameters:
  ///   - bytes: any number of bytes.
  ///   - body: called with the stream's pieces as soon as they are determined. If it throws, the
  ///     encoder must not be used again.
  package mutating func append(
    _ bytes: UnsafeRawBufferPointer, _ body: (Piece) throws -> Void
  ) rethrows {
    var hasher = hasher
    self.hasher = BlockHasher()
    try hasher.append(bytes) { block, bytes in
      waiting.append(Waiting(block: block, bytes: Array(bytes)))
      for level in starts.indices { closeBlock(of: level) }
      try flush(upTo: starts.reduce(.max, min), body)
    }
    self.hasher = hasher
  }

  /// Ends the stream.
  ///
  /// The rest after its last block boundary is a literal.
  package mutating func finish(_ body: (Piece) throws -> Void) rethrows {
    try flush(upTo: first + waiting.count, body)
    guard !hasher.openBytes.isEmpty else { return }
    literalLength += Int64(hasher.openBytes.count)
    try hasher.openBytes.withUnsafeBytes {
      try body(Piece(bytes: $0, source: nil, block: nil))
    }
  }
}

extension DeltaEncoder {
  /// Looks up the block of a level that ends with the newest block, if any does.
  private mutating func closeBlock(of level: Int) {
    guard let newest = waiting.last else { return }
    let members = (starts[level] - first)..<waiting.count
    guard BlockLevel.ends(level, count: members.count, with: newest.block) else { return }
    starts[level] += members.count
    lookups += 1
    let blocks = waiting[members].lazy.map(\.block)
    guard
      let found = basis.find(
        level == 0 ? newest.block.hash : ContentHash(of: blocks.map(\.hash)),
        length: blocks.reduce(0) { $0 + $1.length }, expected: expected[level])
    else { return }
    expected[level] = found + 1
    // A longer match replaces shorter ones, whose parts are adjacent in the basis.
    var source = basis.signature.range(found).lowerBound
    for member in members {
      waiting[member].source = source
      source += Int64(waiting[member].block.length)
    }
  }

  /// Delivers the blocks before index `end`.
  private mutating func flush(upTo end: Int, _ body: (Piece) throws -> Void) rethrows {
    let count = end - first
    guard count > 0 else { return }
    for piece in waiting.prefix(count) {
      let length = Int64(piece.block.length)
      if piece.source == nil { literalLength += length } else { copiedLength += length }
      try piece.bytes.withUnsafeBytes {
        try body(
          Piece(bytes: $0, source: piece.source.map { $0..<$0 + length }, block: piece.block))
      }
    }
    waiting.removeFirst(count)
    first = end
  }
}

/// Finds what a stream has in common with a basis, of which it knows only the signature.
///
/// Both are cut by their content, so what they have in common is cut alike in both, and a lookup
/// for each block finds it; nothing depends on where it stood. Where the basis has blocks of higher
/// levels, the stream's blocks are put together to blocks of these levels too.
///
/// Work is linear in the stream. Memory is a few blocks for a basis of less than 1 GiB, and at most
/// four average blocks of the basis's highest level, 16 MiB for the largest.
package struct DeltaEncoder: Sendable {
  /// A stretch of the stream, in order.
  package struct Piece {
    /// Its bytes, at most ``BlockSplitter/maximum``; valid only during the call.
    package let bytes: UnsafeRawBufferPointer
    /// Where in the basis the same bytes stand; nil when they are not known there.
    package let source: Range<Int64>?
    /// The block that they are, for the stream's own signature; nil for what follows the last one.
    package let block: Block?
  }

  private struct Waiting {
    let block: Block
    let bytes: [UInt8]
    var source: Int64?
  }

  /// Stream bytes that were found in the basis.
  package private(set) var copiedLength: Int64 = 0
  /// Stream bytes that were not.
  package private(set) var literalLength: Int64 = 0

  /// Blocks that were looked for in the basis: at most one for each level and block of level 0.
  private(set) var lookups = 0

  private let basis: BlockIndex
  private var hasher = BlockHasher()
  /// Blocks from `first` on that a block of some level may still contain.
  private var waiting: [Waiting] = []
  private var first = 0
  /// For each level the first block, counted in the stream, of the open block of that level.
  private var starts: [Int]
  /// For each level the number of the basis's block that would go on with the last match.
  private var expected: [Int]

  /// Makes an encoder for a stream from its start.
  package init(basis: BlockIndex) {
    self.basis = basis
    let last = basis.signature.count - 1
    let highest = last < 0 ? 0 : BlockLevel.of(basis.signature.range(last).lowerBound)
    starts = Array(repeating: 0, count: highest + 1)
    expected = starts
  }

  /// Takes the next bytes of the stream.
  ///
  /// - Parameters:
  ///   - bytes: any number of bytes.
  ///   - body: gets the stream's pieces as soon as they are decided. When it throws, the encoder is
  ///     of no more use.
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
  /// What follows its last block boundary is a literal.
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
  /// Looks for the block of a level that the newest block ends, if it ends one.
  private mutating func closeBlock(of level: Int) {
    guard let newest = waiting.last else { return }
    let members = (starts[level] - first)..<waiting.count
    guard BlockLevel.ends(level, count: members.count, with: newest.block) else { return }
    starts[level] += members.count
    lookups += 1
    let blocks = waiting[members].lazy.map(\.block)
    guard
      let found = basis.find(
        level == 0 ? newest.block.hash : BlockHash(of: blocks.map(\.hash)),
        length: blocks.reduce(0) { $0 + $1.length }, expected: expected[level])
    else { return }
    expected[level] = found + 1
    // A longer match takes the place of shorter ones: its parts stand together in the basis.
    var source = basis.signature.range(found).lowerBound
    for member in members {
      waiting[member].source = source
      source += Int64(waiting[member].block.length)
    }
  }

  /// Hands on the blocks before `end`, counted in the stream.
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

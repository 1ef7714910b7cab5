/// Builds a stream's signature as the stream grows.
package struct SignatureBuilder: Sendable {
  private var hasher = BlockHasher()
  private var parts: [Block] = []
  private var entries: [Signature.Entry] = []

  /// The stream offset up to which blocks are finished, in bytes.
  ///
  /// The bytes after it, at most ``maximumOpenLength``, are in no block yet; a later builder starts
  /// at this offset and consumes them again.
  package private(set) var end: Int64

  /// Maximum number of appended bytes after ``end``.
  package static let maximumOpenLength =
    BlockLevel.lengths(BlockLevel.highest).upperBound + BlockSplitter.maximum

  /// Makes a builder that starts at a former ``end``, or at the stream's start.
  package init(from end: Int64 = 0) { self.end = end }

  /// Appends the next bytes of the stream.
  package mutating func append(_ bytes: UnsafeRawBufferPointer) {
    var hasher = hasher
    self.hasher = BlockHasher()
    hasher.append(bytes) { block, _ in append(block) }
    self.hasher = hasher
  }

  /// Appends the next block of the stream, as split and hashed by a ``DeltaEncoder``.
  ///
  /// Do not mix with ``append(_:)-(UnsafeRawBufferPointer)`` for the same builder.
  package mutating func append(_ block: Block) {
    let level = BlockLevel.of(end)
    parts.append(block)
    guard BlockLevel.ends(level, count: parts.count, with: block) else { return }
    let length = parts.reduce(0) { $0 + $1.length }
    let hash = level == 0 ? block.hash : ContentHash(of: parts.lazy.map(\.hash))
    entries.append(Signature.Entry(length: length, hash: hash))
    end += Int64(length)
    parts.removeAll(keepingCapacity: true)
  }

  /// Returns the blocks finished since the last call.
  ///
  /// Call it after each megabyte or so: until then they stay in memory.
  package mutating func takeBlocks() -> [Signature.Entry] {
    defer { entries = [] }
    return entries
  }
}

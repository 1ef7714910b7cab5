/// What is known of a stream's content without having it: the hash of each of its blocks, in order.
///
/// 24 bytes of memory for a block, so 6 MiB for a stream of 1 GiB and half of that for each
/// doubling.
package struct Signature: Sendable, Equatable {
  /// One block, as a ``SignatureBuilder`` hands it to a ``SignatureFile``.
  package struct Entry: Sendable, Equatable {
    /// Length in bytes.
    let length: Int
    /// Hash of the block's bytes, or of its parts' hashes.
    let hash: BlockHash
  }

  private var hashes: [BlockHash] = []
  private var ends: [Int64] = []

  /// Makes the signature of an empty stream.
  init() {}

  /// Number of blocks.
  package var count: Int { hashes.count }

  /// The stream offset up to which the blocks reach, in bytes.
  package var end: Int64 { ends.last ?? 0 }

  /// Whether another stream begins with exactly these blocks.
  package func isPrefix(of other: Signature) -> Bool {
    count <= other.count && ends.elementsEqual(other.ends.prefix(count))
      && hashes.elementsEqual(other.hashes.prefix(count))
  }

  /// Adds the blocks that come next in the stream.
  mutating func append(_ entries: some Sequence<Entry>) {
    for entry in entries {
      ends.append(end + Int64(entry.length))
      hashes.append(entry.hash)
    }
  }

  func hash(_ number: Int) -> BlockHash { hashes[number] }

  func range(_ number: Int) -> Range<Int64> { (number == 0 ? 0 : ends[number - 1])..<ends[number] }
}

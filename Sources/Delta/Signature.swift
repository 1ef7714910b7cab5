/// A stream's content without its bytes: the hash of each of its blocks, in order.
///
/// Uses 24 bytes of memory per block, so 6 MiB for a stream of 1 GiB, and half of that for each
/// doubling.
package struct Signature: Sendable, Equatable {
  /// One block, passed from a ``SignatureBuilder`` to a ``SignatureFile``.
  package struct Entry: Sendable, Equatable {
    /// Length in bytes.
    let length: Int
    /// Hash of the block's bytes, or of its parts' hashes.
    let hash: ContentHash
  }

  private var hashes: [ContentHash] = []
  private var ends: [Int64] = []

  /// Makes the signature of an empty stream.
  init() {}

  /// Number of blocks.
  package var count: Int { hashes.count }

  /// The stream offset at which the blocks end, in bytes.
  package var end: Int64 { ends.last ?? 0 }

  /// Adds the next blocks of the stream.
  mutating func append(_ entries: some Sequence<Entry>) {
    for entry in entries {
      ends.append(end + Int64(entry.length))
      hashes.append(entry.hash)
    }
  }

  func hash(_ number: Int) -> ContentHash { hashes[number] }

  func range(_ number: Int) -> Range<Int64> { (number == 0 ? 0 : ends[number - 1])..<ends[number] }
}

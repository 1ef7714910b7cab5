/// One content-defined block of a stream, passed from a ``DeltaEncoder`` to a ``SignatureBuilder``.
package struct Block: Sendable, Hashable {
  /// Length in bytes.
  let length: Int
  /// Hash of its bytes.
  let hash: ContentHash
  /// How rare its end is: see ``BlockSplitter/Boundary/level``.
  let level: Int
}

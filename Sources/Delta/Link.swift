import Crypto

/// A fingerprint of the stream just before an offset, checked at each join of two segments.
package struct Link: Sendable, Equatable, Hashable {
  /// Maximum number of bytes that it covers.
  package static let span = 4096

  /// Number of bytes that it covers: `span`, or fewer at the start of the stream.
  package let covered: Int
  /// First 16 bytes of their SHA-256.
  package let hash: [UInt8]

  /// The link of stream offset 0.
  package static let start = Link(before: [])

  /// Makes the link for the offset after `bytes`; only their last ``span`` count.
  package init(before bytes: ArraySlice<UInt8>) {
    let tail = bytes.suffix(Self.span)
    covered = tail.count
    hash = Array(SHA256.hash(data: tail).prefix(16))
  }

  /// The form stored in an index and the manifest: length (LEB128), then the hash.
  package var encoded: [UInt8] {
    var out: [UInt8] = []
    Varint.append(UInt64(covered), to: &out)
    return out + hash
  }

  /// Reads the encoded form.
  ///
  /// - Throws: ``SegmentError`` for anything else.
  package init(encoded: ArraySlice<UInt8>) throws(SegmentError) {
    var reader = ByteReader(encoded)
    covered = try reader.count()
    hash = Array(try reader.bytes(16))
    guard covered <= Self.span, reader.isAtEnd else {
      throw SegmentError(.corrupt, "a link is malformed")
    }
  }
}

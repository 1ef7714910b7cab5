import Crypto

/// A fingerprint of the stream just before an offset, checked wherever two segments join.
package struct Link: Sendable, Equatable, Hashable {
  /// How many bytes before the offset it covers at most.
  package static let span = 4096

  /// How many bytes it covers: `span`, or fewer at the start of the stream.
  package let covered: Int
  /// First 16 bytes of their SHA-256.
  package let hash: [UInt8]

  /// The link of stream offset 0.
  package static let start = Link(before: [])

  /// Makes the link for the offset that `bytes` lead up to; only their last ``span`` count.
  package init(before bytes: ArraySlice<UInt8>) {
    let tail = bytes.suffix(Self.span)
    covered = tail.count
    hash = Array(SHA256.hash(data: tail).prefix(16))
  }

  /// The form in which an index and the manifest keep it: length (LEB128), then the hash.
  package var encoded: [UInt8] {
    var out: [UInt8] = []
    Varint.append(UInt64(covered), to: &out)
    return out + hash
  }

  /// Reads the encoded form.
  ///
  /// - Throws: ``SegmentError`` when it is anything else.
  package init(encoded: ArraySlice<UInt8>) throws(SegmentError) {
    var reader = ByteReader(encoded)
    covered = try reader.count()
    hash = Array(try reader.bytes(16))
    guard covered <= Self.span, reader.isAtEnd else {
      throw SegmentError(.corrupt, "a link is malformed")
    }
  }
}

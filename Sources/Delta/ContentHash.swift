import Crypto
import Platform

/// The first 16 bytes of a SHA-256, which identify a block, a frame or an index.
package struct ContentHash: Sendable, Hashable, Comparable {
  /// Length of the encoded form in bytes.
  static let length = 16

  private let high: UInt64
  private let low: UInt64

  /// The hash of some bytes.
  init(of bytes: UnsafeRawBufferPointer) {
    var hasher = SHA256()
    hasher.update(bufferPointer: bytes)
    self.init(hasher.finalize())
  }

  /// The hash of some bytes.
  package init(of bytes: ArraySlice<UInt8>) {
    self = bytes.withUnsafeBytes { ContentHash(of: $0) }
  }

  /// The hash of a block that consists of others, computed without reading these again.
  ///
  /// It cannot equal the hash of a plain block of the same length: that block would have to consist
  /// of these hashes, which are at least 128 times shorter than the blocks they represent.
  init(of parts: some Sequence<ContentHash>) {
    var hasher = SHA256()
    for part in parts { hasher.update(data: part.encoded) }
    self.init(hasher.finalize())
  }

  /// Reads the encoded form; nil if it has another length.
  init?(encoded: ArraySlice<UInt8>) {
    guard encoded.count == Self.length else { return nil }
    high = encoded.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    low = encoded.suffix(8).reduce(0) { $0 << 8 | UInt64($1) }
  }

  private init(_ digest: SHA256Digest) {
    (high, low) = digest.withUnsafeBytes {
      (
        UInt64(bigEndian: $0.loadUnaligned(fromByteOffset: 0, as: UInt64.self)),
        UInt64(bigEndian: $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
      )
    }
  }

  /// Its bytes in order.
  var encoded: [UInt8] {
    [high, low].flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> (56 - 8 * $0)) } }
  }

  /// Its bytes in lower-case hex.
  package var text: String { Hex.text(encoded) }

  /// Orders by bytes.
  package static func < (left: ContentHash, right: ContentHash) -> Bool {
    left.high == right.high ? left.low < right.low : left.high < right.high
  }
}

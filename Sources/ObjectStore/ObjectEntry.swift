package import Platform

/// One object in a listing or the answer to a HEAD.
package struct ObjectEntry: Sendable, Hashable {
  /// The key, relative to the store's prefix.
  package let key: String
  /// The size.
  package let size: ByteCount
  /// When it was last written, by the server's clock.
  package let modified: ServerTime?
  /// The entity tag without its quotes; for most S3 stores the MD5 of the content.
  package let etag: String?

  /// Plausible sizes: larger than any store accepts, and small enough that sums do not overflow.
  static let possibleSizes: ClosedRange<ByteCount> = 0...(1 << 50)

  /// Makes an entry.
  package init(key: String, size: ByteCount, modified: ServerTime? = nil, etag: String? = nil) {
    self.key = key
    self.size = size
    self.modified = modified
    self.etag = etag
  }
}

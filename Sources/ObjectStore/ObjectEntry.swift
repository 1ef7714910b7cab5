package import Platform

/// One object as a listing or a look at its head shows it.
package struct ObjectEntry: Sendable, Hashable {
  /// The key, relative to the store's prefix.
  package let key: String
  /// The size.
  package let size: ByteCount
  /// When it was last written, by the server's clock.
  package let modified: ServerTime?
  /// The entity tag without its quotes; for most S3 stores the MD5 of the content.
  package let etag: String?

  /// The sizes that are believed: more than any store takes, and sums of them stay numbers.
  static let possibleSizes: ClosedRange<ByteCount> = 0...(1 << 50)

  /// Makes an entry.
  package init(key: String, size: ByteCount, modified: ServerTime? = nil, etag: String? = nil) {
    self.key = key
    self.size = size
    self.modified = modified
    self.etag = etag
  }
}

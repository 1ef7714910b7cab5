package import Platform

/// Sizes, counts and times at which an upload splits, merges, compares and repeats segments.
///
/// A simulation shrinks them, so that short logs reach every one of them.
package struct UploadLimits: Sendable {
  /// Maximum object size while the store has refused none, in bytes.
  package var largestObject = 8 << 20
  /// Maximum object size of the least capable store that is supported, in bytes.
  package var smallestObject = 64 << 10
  /// Log bytes at which a segment ends however little it takes compressed: holes take none, and
  /// whoever reads a segment reads all of it.
  package var longestSegment: ByteCount = 256 << 20
  /// Number of small segments that one tick merges into larger ones.
  package var mergedSegments = 64
  /// Bytes sent between two updates of an attached file's signature.
  package var signatureStep: ByteCount = 65_536
  /// Time after which an open session puts a revision although it has nothing new, so that no
  /// reaper considers it abandoned.
  package var quiet: Duration

  /// The limits of the product, for a home with this retention.
  package init(_ retention: Retention = Retention()) { quiet = retention.remote / 3 }
}

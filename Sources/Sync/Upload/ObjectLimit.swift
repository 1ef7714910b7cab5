import Delta
import Platform

/// How large an object may be that a store takes: what its refusals have taught, in bytes.
///
/// Whoever refuses an object as too large is sent ones half as large from then on.
final class ObjectLimit: Sendable {
  /// No object is larger, whatever the store takes.
  static let largest = 8 << 20
  /// A store that takes less than this is of no use.
  static let smallest = 64 << 10

  private let manifest: Manifest
  private let known: Guarded<Int>

  /// What the manifest remembers.
  init(_ manifest: Manifest) throws {
    self.manifest = manifest
    let remembered = try manifest.storeEntry().objectLimit ?? Self.largest
    known = Guarded(min(max(remembered, Self.smallest), Self.largest))
  }

  var bytes: Int { known.withLock { $0 } }

  /// Log bytes of one frame at most: what zstd cannot compress leaves room for three more.
  var frameLength: Int { min(SegmentEncoder.frameLength, bytes / 4) }

  /// Halves the limit, and remembers it, after an object was refused.
  ///
  /// - Parameter size: of the object, in bytes.
  /// - Throws: errors of the manifest.
  func lower(after size: Int) throws {
    let lower = known.withLock { bytes in
      // Another session may have learnt it meanwhile.
      if size <= bytes { bytes = max(Self.smallest, min(bytes, size) / 2) }
      return bytes
    }
    var entry = try manifest.storeEntry()
    entry.objectLimit = lower
    try manifest.save(entry)
  }
}

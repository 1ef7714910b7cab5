import Delta
import Platform

/// How large an object may be that a store takes: what its refusals have taught, in bytes.
///
/// Whoever refuses an object as too large is sent ones half as large from then on.
final class ObjectLimit: Sendable {
  private let manifest: Manifest
  private let limits: UploadLimits
  private let known: Guarded<Int>

  /// What the manifest remembers, within the limits.
  init(_ manifest: Manifest, _ limits: UploadLimits) throws {
    (self.manifest, self.limits) = (manifest, limits)
    let remembered = try manifest.storeEntry().objectLimit ?? limits.largestObject
    known = Guarded(min(max(remembered, limits.smallestObject), limits.largestObject))
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
      if size <= bytes { bytes = max(limits.smallestObject, min(bytes, size) / 2) }
      return bytes
    }
    var entry = try manifest.storeEntry()
    entry.objectLimit = lower
    try manifest.save(entry)
  }
}

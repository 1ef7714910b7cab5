import Delta
import Platform

/// The largest object that a store accepts, in bytes, learned from its refusals.
///
/// After an object is refused as too large, objects of half the size are sent.
final class ObjectLimit: Sendable {
  private let manifest: Manifest
  private let limits: UploadLimits
  private let known: Guarded<Int>

  /// Starts from the manifest, within the limits.
  init(_ manifest: Manifest, _ limits: UploadLimits) throws {
    (self.manifest, self.limits) = (manifest, limits)
    let remembered = try manifest.storeEntry().objectLimit ?? limits.largestObject
    known = Guarded(min(max(remembered, limits.smallestObject), limits.largestObject))
  }

  var bytes: Int { known.withLock { $0 } }

  /// Maximum log bytes of one frame: if zstd cannot compress it, there is room for three more.
  var frameLength: Int { min(SegmentEncoder.frameLength, bytes / 4) }

  /// Halves the limit after a refusal, and saves it.
  ///
  /// - Parameter size: size of the refused object, in bytes.
  /// - Throws: errors of the manifest.
  func lower(after size: Int) throws {
    let lower = known.withLock { bytes in
      // Another session may have lowered it meanwhile.
      if size <= bytes { bytes = max(limits.smallestObject, min(bytes, size) / 2) }
      return bytes
    }
    var entry = try manifest.storeEntry()
    entry.objectLimit = lower
    try manifest.save(entry)
  }
}

import Foundation

/// Reuses arrays of about the size of a frame: allocating and clearing new ones costs as much as
/// reading a file into them.
///
/// Return an array after use; one that is not returned is freed as usual.
package enum BufferPool {
  /// Shorter arrays come from the allocator, in bytes.
  private static let shortest = 256 << 10
  /// Capacity of each array in bytes: a frame, and the lines around it.
  private static let capacity = 2 << 20 + 128 << 10
  /// Number of arrays kept: rarely are more in use at once.
  private static let most = max(2, ProcessInfo.processInfo.activeProcessorCount)

  private static let free = Guarded<[[UInt8]]>([])

  /// An array of a given length in bytes, with undefined content.
  package static func acquire(_ count: Int) -> [UInt8] {
    let isPooled = count >= shortest && count <= capacity
    var bytes = isPooled ? free.withLock { $0.popLast() } ?? [] : []
    if isPooled { bytes.reserveCapacity(capacity) }
    bytes.removeLast(max(0, bytes.count - count))
    // The content is undefined: clearing it would take as long as writing it.
    bytes.append(addingCapacity: count - bytes.count) { rest in
      rest.withUnsafeMutableBufferPointer { buffer, filled in filled = buffer.count }
    }
    return bytes
  }

  /// Returns an array to the pool.
  package static func release(_ bytes: consuming [UInt8]) {
    guard bytes.capacity >= capacity else { return }
    let bytes = consume bytes
    free.withLock { if $0.count < most { $0.append(bytes) } }
  }
}

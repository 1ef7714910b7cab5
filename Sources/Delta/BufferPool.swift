import Foundation
import Synchronization

/// Arrays for frames and what is as long, which are used again and again: having the system make and
/// clear their memory anew costs as much as reading a file into them.
///
/// Who is done with such an array gives it back; one that is not given back is freed as any other.
package enum BufferPool {
  /// Shorter ones are left to the allocator, in bytes.
  private static let shortest = 256 << 10
  /// Room in each, in bytes: that of a frame, and the lines around it.
  private static let capacity = SegmentEncoder.frameLength + 128 << 10
  /// How many are kept: no more than that are in use at once for long.
  private static let most = max(2, ProcessInfo.processInfo.activeProcessorCount)

  private static let free = Mutex<[[UInt8]]>([])

  /// An array of a length in bytes, of which the content means nothing.
  package static func take(_ count: Int) -> [UInt8] {
    guard count >= shortest, count <= capacity else { return [UInt8](repeating: 0, count: count) }
    var bytes = free.withLock { $0.popLast() } ?? []
    bytes.reserveCapacity(capacity)
    if bytes.count > count {
      bytes.removeLast(bytes.count - count)
    } else {
      bytes.append(contentsOf: repeatElement(0, count: count - bytes.count))
    }
    return bytes
  }

  /// Keeps an array for whoever takes one next.
  package static func give(_ bytes: consuming [UInt8]) {
    guard bytes.capacity >= capacity else { return }
    let bytes = consume bytes
    free.withLock { if $0.count < most { $0.append(bytes) } }
  }
}

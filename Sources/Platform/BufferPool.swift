import Foundation

/// Arrays for frames and what is as long, which are used again and again: having the system make and
/// clear their memory anew costs as much as reading a file into them.
///
/// Who is done with such an array gives it back; one that is not given back is freed as any other.
package enum BufferPool {
  /// Shorter ones are left to the allocator, in bytes.
  private static let shortest = 256 << 10
  /// Space in each, in bytes: that of a frame, and the lines around it.
  private static let capacity = 2 << 20 + 128 << 10
  /// How many are kept: no more than that are in use at once for long.
  private static let most = max(2, ProcessInfo.processInfo.activeProcessorCount)

  private static let free = Guarded<[[UInt8]]>([])

  /// An array of a length in bytes, of which the content means nothing.
  package static func take(_ count: Int) -> [UInt8] {
    let isPooled = count >= shortest && count <= capacity
    var bytes = isPooled ? free.withLock { $0.popLast() } ?? [] : []
    if isPooled { bytes.reserveCapacity(capacity) }
    bytes.removeLast(max(0, bytes.count - count))
    // Nobody reads what has not been written: clearing it first would take as long as writing it.
    bytes.append(addingCapacity: count - bytes.count) { rest in
      rest.withUnsafeMutableBufferPointer { buffer, filled in filled = buffer.count }
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

import LogRecords
import Platform
package import SessionLog

/// Damage in a range of a remote stream, as reported by salvage.
package struct StreamDamage: Sendable, Equatable, CustomStringConvertible {
  /// The damaged stream bytes.
  package let range: Range<StreamOffset>
  /// Whether the bytes were unreadable and are omitted; otherwise they are delivered, but in doubt.
  package let isLost: Bool
  /// The problem, with the names of objects.
  package let reason: String

  /// This and the following damage as one, if both are losses for the same reason.
  func joined(with next: StreamDamage) -> StreamDamage? {
    guard next.isLost == isLost, next.reason == reason, next.range.lowerBound == range.upperBound
    else { return nil }
    return StreamDamage(
      range: range.lowerBound..<next.range.upperBound, isLost: isLost, reason: reason)
  }

  /// The line that replaces lost bytes, newline included.
  package var gapLine: [UInt8] {
    Array("\(GapLine.text(range.byteCount.bytes, reason))\n".utf8)
  }

  /// One line for a person.
  package var description: String {
    let fate = isLost ? "lost" : "in doubt"
    return "bytes \(range.lowerBound) to \(range.upperBound) are \(fate): \(reason)"
  }
}

/// The next part of a stream during salvage.
package enum StreamPart {
  /// Bytes, at most 2 MiB.
  case bytes(UnsafeRawBufferPointer)
  /// Damage; lost bytes are skipped.
  case damage(StreamDamage)
}

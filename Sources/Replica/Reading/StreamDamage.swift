import LogRecords
import Platform
package import SessionLog

/// Something wrong with a stretch of a remote stream, as a reader that goes on tells it.
package struct StreamDamage: Sendable, Equatable, CustomStringConvertible {
  /// The stretch, in stream bytes.
  package let range: Range<StreamOffset>
  /// Whether its bytes could not be read and are left out; else they are given, and in doubt.
  package let isLost: Bool
  /// What is wrong, with the names of objects.
  package let reason: String

  /// This and what follows directly, where that was lost for the same reason.
  func joined(with next: StreamDamage) -> StreamDamage? {
    guard next.isLost == isLost, next.reason == reason, next.range.lowerBound == range.upperBound
    else { return nil }
    return StreamDamage(
      range: range.lowerBound..<next.range.upperBound, isLost: isLost, reason: reason)
  }

  /// The line that stands for lost bytes, newline included.
  package var gapLine: [UInt8] {
    Array("\(GapLine.text(range.byteCount.bytes, reason))\n".utf8)
  }

  /// One line for a person.
  package var description: String {
    let fate = isLost ? "lost" : "in doubt"
    return "bytes \(range.lowerBound) to \(range.upperBound) are \(fate): \(reason)"
  }
}

/// What comes next of a stream that is read as far as it can be.
package enum StreamPart {
  /// Bytes, at most 2 MiB.
  case bytes(UnsafeRawBufferPointer)
  /// Something wrong; lost bytes are passed over.
  case damage(StreamDamage)
}

import LogRecords

/// Something wrong with a stretch of a remote stream, as a reader that goes on tells it.
public struct StreamDamage: Sendable, Equatable, CustomStringConvertible {
  /// The stretch, in stream bytes.
  public let range: Range<Int64>
  /// Whether its bytes could not be read and are left out; else they are given, and in doubt.
  public let isLost: Bool
  /// What is wrong, with the names of objects.
  public let reason: String

  /// The line that stands for lost bytes, newline included.
  public var gapLine: [UInt8] {
    Array("\(GapLine.text(range.upperBound - range.lowerBound, reason))\n".utf8)
  }

  /// One line for a person.
  public var description: String {
    let fate = isLost ? "lost" : "in doubt"
    return "bytes \(range.lowerBound) to \(range.upperBound) are \(fate): \(reason)"
  }
}

/// What comes next of a stream that is read as far as it can be.
public enum StreamPart {
  /// Bytes, at most 2 MiB.
  case bytes(UnsafeRawBufferPointer)
  /// Something wrong; lost bytes are passed over.
  case damage(StreamDamage)
}

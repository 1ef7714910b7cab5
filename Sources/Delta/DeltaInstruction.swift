/// One step in making a stretch of a stream out of an earlier generation and new bytes.
package enum DeltaInstruction: Sendable, Equatable {
  /// These bytes of another generation come next.
  case copy(StreamRange)
  /// This many bytes come next that stand in the delta itself.
  case literal(Int64)

  /// Number of stream bytes that it makes.
  package var length: Int64 {
    switch self {
    case .copy(let source): source.length
    case .literal(let length): length
    }
  }
}

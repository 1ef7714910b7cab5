/// One step in constructing a part of a stream from an earlier generation and new bytes.
package enum DeltaInstruction: Sendable, Equatable {
  /// Copy these bytes of another generation.
  case copy(StreamRange)
  /// Take this many bytes from the delta itself.
  case literal(Int64)

  /// Number of stream bytes that it produces.
  package var length: Int64 {
    switch self {
    case .copy(let source): source.length
    case .literal(let length): length
    }
  }
}

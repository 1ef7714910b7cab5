import Platform

/// The bytes that the observations of a pass compare with what was sent.
final class ComparisonBudget {
  private var left: ByteCount = 4 << 30
  private var samplesLeft: ByteCount = 1 << 30
  /// How much is compared of each file once less than it is left.
  private static let sample: ByteCount = 64 << 20

  /// Whether something is left.
  var isLeft: Bool { left > 0 }

  /// Takes bytes, if there are enough left.
  func take(_ bytes: ByteCount) -> Bool {
    guard bytes <= left else { return false }
    left -= bytes
    return true
  }

  /// Takes bytes that were compared already.
  func spend(_ bytes: ByteCount) { left -= min(bytes, left) }

  /// Takes a sample.
  ///
  /// - Returns: its size, which is less once many were taken.
  func takeSample() -> ByteCount {
    guard samplesLeft > 0 else { return SentBytes.sample }
    samplesLeft -= min(Self.sample, samplesLeft)
    return Self.sample
  }
}

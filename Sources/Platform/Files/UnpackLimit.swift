/// Limits the unpacked size of a compressed file or object.
///
/// A few megabytes can expand to terabytes. Logs compress well, but within limits: output that is
/// both large and many times the input is refused, unless a person has set a maximum.
package struct UnpackLimit: Sendable, Equatable {
  /// The maximum that a person has set; nil if none.
  package let maximum: ByteCount?

  /// The size up to which nothing is refused, in bytes.
  private static let harmless: ByteCount = 1 << 30
  /// Maximum ratio of unpacked to compressed size.
  private static let ratio: Int64 = 250

  /// Describes a limit.
  package init(maximum: ByteCount? = nil) { self.maximum = maximum }

  /// Why a size is refused; nil if it is not.
  ///
  /// - Parameters:
  ///   - unpacked: the size as announced, or as far as it is known.
  ///   - packed: the compressed size.
  package func refusal(of unpacked: ByteCount, from packed: ByteCount) -> String? {
    if let maximum {
      return unpacked > maximum ? "it has more than the \(maximum.text) that are allowed" : nil
    }
    let (most, isTooMuch) = packed.bytes.multipliedReportingOverflow(by: Self.ratio)
    guard unpacked > Self.harmless, !isTooMuch, unpacked.bytes > most else { return nil }
    return "it becomes more than \(Self.ratio) times the \(packed.text) that it has compressed"
  }
}

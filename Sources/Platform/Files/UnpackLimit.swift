/// How much a compressed file or object may become when it is unpacked.
///
/// A few megabytes can stand for terabytes. Logs compress well, but not beyond measure: what becomes
/// large and many times as large as it was is refused, unless a person has said how large it may be.
package struct UnpackLimit: Sendable, Equatable {
  /// The size that a person has allowed; nil where nobody has.
  package let maximum: ByteCount?

  /// Up to this size nothing is refused, in bytes.
  private static let harmless: ByteCount = 1 << 30
  /// So many times its compressed size a log may become.
  private static let ratio: Int64 = 250

  /// Describes a limit.
  package init(maximum: ByteCount? = nil) { self.maximum = maximum }

  /// Why a size is refused; nil where it is not.
  ///
  /// - Parameters:
  ///   - unpacked: the size as it is promised, or as far as it is known.
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

/// A time as a number since 1970: seconds with or without a fraction, milliseconds, microseconds or
/// nanoseconds, distinguished by magnitude.
enum EpochTime {
  /// Parses bytes that consist of a number.
  static func parse(_ bytes: UnsafeRawBufferPointer) -> WrittenTime? {
    var scanner = ByteScanner(bytes)
    // Nanoseconds have 19 digits until the year 2286; 18 always fit.
    let digits = scanner.digitRun(limit: 19)
    guard digits > 0, digits < 19 || bytes[0] < 0x39, let whole = scanner.number(digits) else {
      return nil
    }
    let fraction = scanner.fraction()
    while ByteScanner.isDigit(scanner.next) { scanner.index += 1 }
    guard scanner.isAtEnd else { return nil }
    let number = Int64(whole)
    switch number {
    case ..<100_000_000: return nil  // Before 1973: a count, not a time.
    case ..<100_000_000_000: return .utc(number * 1000 + fraction)
    case ..<100_000_000_000_000: return .utc(number)
    case ..<100_000_000_000_000_000: return .utc(number / 1000)
    default: return .utc(number / 1_000_000)
    }
  }
}

/// Spans of time as people write and read them: `45s`, `10m`, `2h`, `7d`.
public enum Age {
  private static let units: [(name: Character, seconds: Int64)] = [
    ("d", 86_400), ("h", 3_600), ("m", 60), ("s", 1),
  ]

  /// The largest unit that fits, rounded down: `3 d`.
  public static func text(_ span: Duration) -> String {
    let seconds = span.seconds
    let unit = units.first { seconds.magnitude >= $0.seconds } ?? ("s", 1)
    return "\(seconds / unit.seconds) \(unit.name)"
  }

  /// Reads `90s`, `10m`, `2h`, `7d`, `4w`, or plain seconds.
  ///
  /// - Returns: nil for anything else, and for spans of more than a thousand years.
  public static func parse(_ text: String) -> Duration? {
    guard let last = text.last else { return nil }
    let factor: Int64
    let digits: Substring
    if last.isASCII, last.isNumber {
      (factor, digits) = (1, text[...])
    } else if last == "w" {
      (factor, digits) = (7 * 86_400, text.dropLast())
    } else if let unit = units.first(where: { $0.name == last }) {
      (factor, digits) = (unit.seconds, text.dropLast())
    } else {
      return nil
    }
    guard let count = Int64(digits), count >= 0, count < 1000 * 365 * 86_400 / factor else {
      return nil
    }
    return .seconds(count * factor)
  }
}

/// Spans of time as people write and read them: `45s`, `1h30m`, `2 days`.
public enum Age {
  private static let units: [(name: Character, seconds: Int64)] = [
    ("d", 86_400), ("h", 3_600), ("m", 60), ("s", 1),
  ]

  private static let named: [String: Int64] = {
    var named: [String: Int64] = [:]
    let names: [([String], Int64)] = [
      (["s", "sec", "secs", "second", "seconds"], 1),
      (["m", "min", "mins", "minute", "minutes"], 60),
      (["h", "hr", "hrs", "hour", "hours"], 3_600), (["d", "day", "days"], 86_400),
      (["w", "week", "weeks"], 7 * 86_400), (["month", "months"], 30 * 86_400),
      (["y", "year", "years"], 365 * 86_400),
    ]
    for (words, seconds) in names { for word in words { named[word] = seconds } }
    return named
  }()

  /// The forms that ``parse(_:)`` accepts, for messages and help.
  public static let forms = "45s, 10min, 1h30m, 7d, 4w or 1y"

  /// The largest unit that fits, rounded down: `3 d`.
  public static func text(_ span: Duration) -> String {
    let seconds = span.seconds
    let unit = units.first { seconds.magnitude >= $0.seconds } ?? ("s", 1)
    return "\(seconds / unit.seconds) \(unit.name)"
  }

  /// The two largest units, rounded down, in a form that ``parse(_:)`` accepts: `2h13m`, `45s`.
  public static func compact(_ span: Duration) -> String {
    let seconds = max(0, span.seconds)
    guard let first = units.firstIndex(where: { seconds >= $0.seconds }) else { return "0s" }
    let unit = units[first]
    let text = "\(seconds / unit.seconds)\(unit.name)"
    guard first + 1 < units.count else { return text }
    let next = units[first + 1]
    let rest = seconds % unit.seconds / next.seconds
    return rest == 0 ? text : "\(text)\(rest)\(next.name)"
  }

  /// Time since an event: `3 h ago`; `in 3 h` for the future, or a clock ahead of this one.
  public static func ago(_ span: Duration) -> String {
    span.seconds < 0 ? "in \(text(.zero - span))" : "\(text(span)) ago"
  }

  /// Parses `90s`, `10min`, `1h30m`, `2 days`, `4w`, `1y` (365 days), or `0`.
  ///
  /// Any other number needs its unit: `30` may be meant as days, and what is taken for older than 30
  /// seconds is deleted.
  ///
  /// - Returns: nil for anything else, and for more than a thousand years.
  public static func parse(_ text: String) -> Duration? {
    let most: Int64 = 1000 * 365 * 86_400
    var rest = text[...]
    var total: Int64 = 0
    var terms = 0
    while !rest.isEmpty {
      let digits = rest.prefix { $0.isASCII && $0.isNumber }
      guard let count = Int64(digits) else { return nil }
      rest = rest[digits.endIndex...].drop { $0 == " " }
      let word = rest.prefix { $0.isASCII && $0.isLetter }
      rest = rest[word.endIndex...]
      let isZero = count == 0 && rest.isEmpty && terms == 0
      guard let factor = word.isEmpty ? (isZero ? 1 : nil) : named[String(word)],
        count < most / factor
      else { return nil }
      total += count * factor
      terms += 1
      guard total < most else { return nil }
      let next = rest.drop { $0 == " " }
      // A trailing blank belongs to nothing.
      if next.isEmpty && !rest.isEmpty { return nil }
      rest = next
    }
    return terms == 0 ? nil : .seconds(total)
  }
}

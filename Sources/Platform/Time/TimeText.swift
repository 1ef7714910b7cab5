/// Parses points in time as people write them, in the formats of `journalctl`.
///
/// `2026-11-22 10:00:05`, without seconds, without a time (midnight) or without a date (today);
/// followed by `Z`, `UTC` or an offset such as `+01:00`, else in local time; `today`, `yesterday`,
/// `tomorrow`, alone or before a time; `now`; `1h30m` or `1h30m ago` for a past time, also as
/// `-1h30m`, and `+1h30m` for a future one; `@1763802005` in seconds since 1970.
package enum TimeText {
  /// The moment meant by a local time that occurs twice, when clocks are set back.
  package enum Bound: Sendable {
    /// The first: the start of a span.
    case start
    /// The last: the end of a span.
    case end
  }

  /// The formats, for messages and help.
  package static let forms =
    "'2026-11-22 10:00', 2026-11-22T10:00:05Z, 10:00, today, yesterday, 1h30m or '5min ago'"

  /// Parses a time; nil if it has none of the formats.
  package static func parse(
    _ text: String, now: Timestamp, zone: LocalZone, as bound: Bound
  ) -> Timestamp? {
    let words = text.split(separator: " ").map(String.init)
    guard let first = words.first else { return nil }
    if let span = span(text, words) { return now + span }
    switch first {
    case "now": return words.count == 1 ? now : nil
    case _ where first.hasPrefix("@"): return words.count == 1 ? sinceEpoch(first.dropFirst()) : nil
    default: return civil(words, now, zone, bound)
    }
  }

  /// A span before or after now.
  private static func span(_ text: String, _ words: [String]) -> Duration? {
    if words.count > 1, words.last == "ago" {
      return Age.parse(words.dropLast().joined(separator: " ")).map { .zero - $0 }
    }
    // A bare number may be anything: a year, an hour.
    guard text.contains(where: \.isLetter) else { return nil }
    switch text.first {
    case "-": return Age.parse(String(text.dropFirst())).map { .zero - $0 }
    case "+": return Age.parse(String(text.dropFirst()))
    default: return Age.parse(text).map { .zero - $0 }
    }
  }

  private static func sinceEpoch(_ text: Substring) -> Timestamp? {
    guard !text.isEmpty, text.allSatisfy({ $0.isASCII && $0.isNumber }), let seconds = Int64(text),
      seconds <= Timestamp.writable.upperBound / 1000
    else { return nil }
    return Timestamp(milliseconds: seconds * 1000)
  }

  // MARK: Dates and times of day

  private static func civil(
    _ words: [String], _ now: Timestamp, _ zone: LocalZone, _ bound: Bound
  ) -> Timestamp? {
    var words = words
    // `2026-11-22T10:00:05Z` is a date and a time, too.
    if let first = words.first, let mark = first.firstIndex(where: { $0 == "T" || $0 == "t" }),
      days(first[..<mark]) != nil
    {
      words.replaceSubrange(
        0..<1, with: [String(first[..<mark]), String(first[first.index(after: mark)...])])
    }
    var offset: Int64?
    if let last = words.popLast() {
      let (rest, found) = withoutZone(last)
      offset = found
      if !rest.isEmpty { words.append(rest) } else if found == nil { return nil }
    }
    guard let first = words.first, words.count <= 2 else { return nil }
    let today = offset.map { (now + .seconds($0)).day } ?? zone.day(now)
    let day: Int64
    if let named = named(first, today: today) ?? days(first[...]) {
      words.removeFirst()
      day = named
    } else {
      guard words.count == 1, let now = days(today[...]) else { return nil }
      day = now
    }
    let time = words.first.map { milliseconds($0[...]) } ?? 0
    guard let time else { return nil }
    let shown = Timestamp(milliseconds: day * 86_400_000 + time)
    guard Timestamp.writable.contains(shown.milliseconds) else { return nil }
    if let offset { return shown - .seconds(offset) }
    let moments = zone.moments(showing: shown)
    return bound == .start ? moments.lowerBound : moments.upperBound
  }

  private static func named(_ word: String, today: String) -> Int64? {
    let difference: [String: Int64] = ["yesterday": -1, "today": 0, "tomorrow": 1]
    guard let days = days(today[...]), let difference = difference[word] else { return nil }
    return days + difference
  }

  /// Days since 1970-01-01 of `2026-11-22`.
  private static func days(_ text: Substring) -> Int64? {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 3, let year = number(parts[0], digits: 4),
      let month = number(parts[1], digits: 2), let day = number(parts[2], digits: 2),
      (1...12).contains(month), day >= 1
    else { return nil }
    let days = Timestamp.days(year, month, day)
    // An invalid day would roll over into the next month.
    return Timestamp(milliseconds: days * 86_400_000).day == text ? days : nil
  }

  /// Milliseconds since midnight of `10:00`, `10:00:05` or `10:00:05.25`.
  private static func milliseconds(_ text: Substring) -> Int64? {
    let halves = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
    let parts = halves[0].split(separator: ":", omittingEmptySubsequences: false)
    let numbers = parts.compactMap { number($0, digits: 2) }
    guard (2...3).contains(parts.count), numbers.count == parts.count, numbers[0] < 24,
      numbers[1] < 60, numbers.count == 2 || numbers[2] < 60
    else { return nil }
    var fraction: Int64 = 0
    if halves.count == 2 {
      let digits = halves[1]
      guard parts.count == 3, (1...9).contains(digits.count),
        let value = number(digits.prefix(3), digits: min(3, digits.count)),
        digits.allSatisfy({ $0.isASCII && $0.isNumber })
      else { return nil }
      fraction = value * (digits.count == 1 ? 100 : digits.count == 2 ? 10 : 1)
    }
    let seconds = numbers[0] * 3600 + numbers[1] * 60 + (numbers.count == 3 ? numbers[2] : 0)
    return seconds * 1000 + fraction
  }

  /// A word without a zone at its end, and that zone's offset in seconds.
  private static func withoutZone(_ word: String) -> (String, Int64?) {
    for name in ["UTC", "GMT", "Z", "z"] where word.hasSuffix(name) {
      return (String(word.dropLast(name.count)), 0)
    }
    // In a date, a `-` is not a sign.
    guard let sign = word.lastIndex(where: { $0 == "+" || $0 == "-" }),
      word[sign] == "+" || word[..<sign].contains(":") || sign == word.startIndex
    else { return (word, nil) }
    let digits = word[word.index(after: sign)...].replacing(":", with: "")
    guard digits.count == 2 || digits.count == 4, let hours = number(digits.prefix(2), digits: 2),
      let minutes = digits.count == 2 ? 0 : number(digits.suffix(2), digits: 2), hours <= 14,
      minutes < 60
    else { return (word, nil) }
    let seconds = hours * 3600 + minutes * 60
    return (String(word[..<sign]), word[sign] == "-" ? -seconds : seconds)
  }

  private static func number(_ text: Substring, digits: Int) -> Int64? {
    guard text.utf8.count == digits, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
      return nil
    }
    return Int64(text)
  }
}

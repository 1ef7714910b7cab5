import Platform

/// Parses the dates that servers write: the three formats of HTTP, and ISO 8601.
///
/// All are UTC.
enum HTTPDate {
  private static let months = [
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
  ]

  /// The moment that the text names; nil if it has none of the formats.
  static func parse(_ text: String) -> ServerTime? {
    if let date = iso8601(text) { return date }
    let words = text.lowercased().split { $0 == " " || $0 == "," || $0 == "-" }.map(String.init)
    let fields: (day: String, month: String, year: String, time: String)
    switch words.count {
    // Sun, 06 Nov 1994 08:49:37 GMT, and Sunday, 06-Nov-94 08:49:37 GMT
    case 6 where words[5] == "gmt" || words[5] == "utc" || words[5] == "+0000":
      fields = (words[1], words[2], words[3], words[4])
    // Sun Nov  6 08:49:37 1994
    case 5: fields = (words[2], words[1], words[4], words[3])
    default: return nil
    }
    let time = fields.time.split(separator: ":").map { Int($0) }
    guard let month = months.firstIndex(of: fields.month), let day = Int(fields.day),
      var year = Int(fields.year), time.count == 3, let hour = time[0], let minute = time[1],
      let second = time[2]
    else { return nil }
    // RFC 9110: a two-digit year is the nearest one at most 50 years ahead.
    if fields.year.count == 2 { year += year < 70 ? 2000 : 1900 }
    return moment(year, month + 1, day, hour, minute, Double(second))
  }

  /// The moment in the form of AWS signatures, `20250830T123600Z`.
  static func amazon(_ date: ServerTime) -> String {
    Timestamp(milliseconds: date.milliseconds).compact.uppercased()
  }

  private static func iso8601(_ text: String) -> ServerTime? {
    guard text.hasSuffix("Z") || text.hasSuffix("z"), text.utf8.count <= 40 else { return nil }
    let digits = text.dropLast().filter { $0 != "-" && $0 != ":" }
    let halves = digits.split { $0 == "T" || $0 == "t" }
    guard halves.count == 2, halves[0].count == 8, halves[1].count >= 6,
      let date = Int(halves[0]), let clock = Int(halves[1].prefix(4)),
      let second = Double(halves[1].dropFirst(4))
    else { return nil }
    return moment(date / 10000, date / 100 % 100, date % 100, clock / 100, clock % 100, second)
  }

  private static func moment(
    _ year: Int, _ month: Int, _ day: Int, _ hour: Int, _ minute: Int, _ second: Double
  ) -> ServerTime? {
    guard (1...9999).contains(year), (1...12).contains(month), (1...31).contains(day),
      (0...23).contains(hour), (0...59).contains(minute), (0..<61).contains(second)
    else { return nil }
    let date = (Int64(year), Int64(month), Int64(day))
    let days = Timestamp.days(date.0, date.1, date.2)
    guard Timestamp.civil(fromDays: days) == date else { return nil }
    let minutes = days * 1440 + Int64(hour * 60 + minute)
    return ServerTime(milliseconds: minutes * 60_000 + Int64((second * 1000).rounded(.down)))
  }
}

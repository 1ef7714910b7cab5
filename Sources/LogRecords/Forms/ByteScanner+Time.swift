/// Parses the formats in which logs write a time.
extension ByteScanner {
  /// Consumes a time in any known format.
  ///
  /// - Returns: nil, with nothing consumed, if there is none.
  mutating func time() -> WrittenTime? {
    let start = index
    if let time = Self.isDigit(next) ? numericTime() : namedTime(), !Self.isDigit(next),
      !Self.isLetter(next)
    {
      return time
    }
    index = start
    return nil
  }

  private mutating func numericTime() -> WrittenTime? {
    let digits = digitRun(limit: 9)
    let mark = byte(at: index + digits)
    let isNumber = Self.isDigit(byte(at: index + digits + 1))
    switch (digits, mark) {
    case (4, 0x2d), (4, 0x2f),
      (2, 0x2f) where isNumber, (2, 0x2e) where isNumber:
      return separatedTime(digits, Unicode.Scalar(mark))
    case (2, 0x2d) where isNumber: return monthDayTime()
    case (2, 0x3a): return clock().map { _ in .dayless }
    case (1...2, _): return dayMonthTime()
    case (6, _): return unseparatedTime(yearDigits: 2)
    case (8, _): return unseparatedTime(yearDigits: 4)
    default: return nil
    }
  }

  /// Consumes `2026-01-22T14:30:05.123+01:00`, `2026/01/22 14:30:05`, `26/01/22 14:30:05`,
  /// `22.01.2026 14:30:05`; in `02/01/2026 14:30:05` the month is ambiguous.
  private mutating func separatedTime(_ digits: Int, _ mark: Unicode.Scalar) -> WrittenTime? {
    guard let first = number(digits), consume(mark), let second = number(2), consume(mark) else {
      return nil
    }
    let isYearLast = digits == 2 && digitRun(limit: 5) == 4
    guard let third = number(isYearLast ? 4 : 2), consume(" ") || consume("T"), let clock = clock()
    else { return nil }
    if !isYearLast { return written(first, second, third, clock, zone()) }
    let isDayFirst = mark == "." || first > 12
    if !isDayFirst, second <= 12, first != second {
      _ = zone()
      return .dayless
    }
    return written(third, isDayFirst ? second : first, isDayFirst ? first : second, clock, zone())
  }

  /// Consumes `01-22 14:30:05.123`.
  private mutating func monthDayTime() -> WrittenTime? {
    guard let month = number(2), consume("-"), let day = number(2), consume(" "),
      let clock = clock()
    else { return nil }
    return yearless(month, day, clock, zone())
  }

  /// Consumes `22/Jan/2026:14:30:05 +0100`, `22-Jan-2026 14:30:05`, `22 Jan 2026 14:30:05`.
  private mutating func dayMonthTime() -> WrittenTime? {
    guard let day = number(digitRun(limit: 2)), consume("/") || consume("-") || consume(" "),
      let month = month(), consume("/") || consume("-") || consume(" "), let year = number(4),
      consume(":") || consume(" "), let clock = clock()
    else { return nil }
    return written(year, month, day, clock, zone())
  }

  /// Consumes `260122 143005`, `260122 14:30:05` and `20260122T143005Z`.
  private mutating func unseparatedTime(yearDigits: Int) -> WrittenTime? {
    guard let year = number(yearDigits), let month = number(2), let day = number(2),
      consume(" ") || consume("T"), let clock = clock(byte(at: index + 2) == 0x3a ? ":" : nil)
    else { return nil }
    return written(year, month, day, clock, zone())
  }

  /// Consumes `Jan 22 14:30:05`, `Jan 22 2026 14:30:05` and `Thu Jan 22 14:30:05.123456 2026`.
  private mutating func namedTime() -> WrittenTime? {
    var month = month()
    let hasWeekday = month == nil
    if hasWeekday {
      guard takeWeekday() else { return nil }
      _ = consume(",")
      takeSpaces()
      if Self.isDigit(next) { return dayMonthTime() }
      month = self.month()
    }
    guard let month, takeSpaces(), let day = number(digitRun(limit: 3)), takeSpaces() else {
      return nil
    }
    var year = digitRun(limit: 5) == 4 ? number(4) : nil
    guard year == nil || takeSpaces(), let clock = clock() else { return nil }
    let zone = zone()
    var ahead = self
    if hasWeekday, year == nil, ahead.consume(" "), ahead.digitRun(limit: 5) == 4 {
      year = ahead.number(4)
      self = ahead
    }
    guard let year else { return yearless(month, day, clock, zone) }
    return written(year, month, day, clock, zone)
  }

  // MARK: Parts

  private func written(
    _ year: Int, _ month: Int, _ day: Int, _ clock: Int64, _ zone: Int64?
  ) -> WrittenTime? {
    let year = year < 70 ? 2000 + year : year < 100 ? 1900 + year : year
    return WrittenTime(year: year, month: month, day: day, milliseconds: clock, zone: zone)
  }

  private func yearless(
    _ month: Int, _ day: Int, _ clock: Int64, _ zone: Int64?
  ) -> WrittenTime? {
    guard WrittenTime.isDay(year: 2000, month: month, day: day) else { return nil }
    return .yearless(month: month, day: day, milliseconds: clock, zone: zone)
  }

  /// Consumes `14:30:05.123`.
  ///
  /// - Parameter mark: the separator of the numbers; nil for none.
  /// - Returns: milliseconds since midnight.
  private mutating func clock(_ mark: Unicode.Scalar? = ":") -> Int64? {
    // A leap second is the 61st.
    guard let hour = number(2), mark.map({ consume($0) }) ?? true, let minute = number(2),
      mark.map({ consume($0) }) ?? true, let second = number(2), hour < 24, minute < 60, second < 61
    else { return nil }
    return Int64((hour * 60 + minute) * 60 + second) * 1000 + fraction()
  }

  /// Consumes up to nine digits after a dot or comma.
  ///
  /// - Returns: milliseconds; 0 if there are none.
  mutating func fraction() -> Int64 {
    guard next == 0x2e || next == 0x2c, Self.isDigit(byte(at: index + 1)) else { return 0 }
    index += 1
    var value: Int64 = 0
    var scale: Int64 = 100
    for _ in 0..<digitRun(limit: 9) {
      value += Int64(bytes[index] - 0x30) * scale
      scale /= 10
      index += 1
    }
    return value
  }

  /// Consumes `Z`, `+01:00`, `+0100`, `+01`, ` +0100`, ` UTC`, ` GMT`.
  ///
  /// - Returns: seconds east of UTC.
  private mutating func zone() -> Int64? {
    if consume("Z") { return 0 }
    var ahead = self
    let isApart = ahead.consume(" ")
    if isApart, ahead.startsWith("UTC") || ahead.startsWith("GMT") {
      ahead.index += 3
      guard !Self.isLetter(ahead.next) else { return nil }
      self = ahead
      return 0
    }
    let sign: Int64 = ahead.next == 0x2d ? -1 : 1
    guard ahead.consume("+") || ahead.consume("-"), let hours = ahead.number(2), hours < 24 else {
      return nil
    }
    let hasColon = ahead.consume(":")
    let minutes = ahead.number(2)
    // Two digits alone might be a number in the message.
    guard minutes.map({ $0 < 60 }) ?? !(isApart || hasColon), !Self.isDigit(ahead.next) else {
      return nil
    }
    self = ahead
    return sign * Int64(hours * 60 + (minutes ?? 0)) * 60
  }

  /// Consumes the first three letters of a month's name.
  private mutating func month() -> Int? {
    let months: StaticString = "janfebmaraprmayjunjulaugsepoctnovdec"
    return place(in: months).map { $0 + 1 }
  }

  private mutating func takeWeekday() -> Bool { place(in: "montuewedthufrisatsun") != nil }

  /// Consumes three letters, in any case, that are in a list.
  private mutating func place(in list: StaticString) -> Int? {
    guard bytes.count - index >= 3 else { return nil }
    let (first, second, third) = (next | 0x20, bytes[index + 1] | 0x20, bytes[index + 2] | 0x20)
    let names = list.utf8Start
    for place in stride(from: 0, to: list.utf8CodeUnitCount, by: 3)
    where names[place] == first && names[place + 1] == second && names[place + 2] == third {
      index += 3
      return place / 3
    }
    return nil
  }
}

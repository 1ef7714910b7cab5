import Platform

/// A time as written in a line, which may lack its zone or its year.
enum WrittenTime: Sendable, Equatable {
  /// Milliseconds since 1970.
  case utc(Int64)
  /// Milliseconds since 1970 by the clock of an unknown zone.
  case local(Int64)
  /// Milliseconds since midnight of a day, and seconds east of UTC if the line states the zone.
  case yearless(month: Int, day: Int, milliseconds: Int64, zone: Int64?)
  /// A time without a day, or with an ambiguous one.
  case dayless

  /// The years that a segment's index can hold; earlier years do not occur in logs.
  private static let years = 1970...9999

  /// Makes a time with a year.
  ///
  /// - Parameters:
  ///   - milliseconds: since midnight.
  ///   - zone: seconds east of UTC; nil if the line does not state it.
  /// - Returns: nil for an invalid date.
  init?(year: Int, month: Int, day: Int, milliseconds: Int64, zone: Int64?) {
    guard Self.years.contains(year), Self.isDay(year: year, month: month, day: day) else {
      return nil
    }
    let local = Self.milliseconds(year: year, month: month, day: day) + milliseconds
    self = zone.map { .utc(local - $0 * 1000) } ?? .local(local)
  }

  /// Midnight of a day, in milliseconds since 1970.
  static func milliseconds(year: Int, month: Int, day: Int) -> Int64 {
    Timestamp.days(Int64(year), Int64(month), Int64(day)) * 86_400_000
  }

  static func isDay(year: Int, month: Int, day: Int) -> Bool {
    let days: Int
    switch month {
    case 2: days = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
    case 4, 6, 9, 11: days = 30
    case 1...12: days = 31
    default: return false
    }
    return (1...days).contains(day)
  }
}

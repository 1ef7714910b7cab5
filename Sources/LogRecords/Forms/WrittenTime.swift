import Platform

/// A time as a line has it, which may lack its zone or its year.
enum WrittenTime: Sendable, Equatable {
  /// Milliseconds since 1970.
  case utc(Int64)
  /// The same by the clock of a zone that the line does not tell.
  case local(Int64)
  /// Milliseconds since midnight of a day, and seconds east of UTC where the line tells them.
  case yearless(month: Int, day: Int, milliseconds: Int64, zone: Int64?)
  /// A clock without a day, or with one that can be read in two ways.
  case dayless

  /// The span of years that the index of a segment can hold; earlier ones are no times of logs.
  private static let years = 1970...9999

  /// A time with a year.
  ///
  /// - Parameters:
  ///   - milliseconds: since midnight.
  ///   - zone: seconds east of UTC; nil where the line does not tell.
  /// - Returns: nil when there is no such day.
  init?(year: Int, month: Int, day: Int, milliseconds: Int64, zone: Int64?) {
    guard Self.years.contains(year), Self.isDay(year: year, month: month, day: day) else {
      return nil
    }
    let local = Self.milliseconds(year: year, month: month, day: day) + milliseconds
    self = zone.map { .utc(local - $0 * 1000) } ?? .local(local)
  }

  /// Midnight of a day, since 1970.
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

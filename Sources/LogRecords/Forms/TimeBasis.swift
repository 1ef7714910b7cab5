import Foundation
import Platform

/// What completes the times of a log that leave out their zone or their year.
struct TimeBasis: Sendable {
  private let zone: TimeZone
  /// The latest time that a record without a year can have; nil when nothing tells.
  private let latest: Int64?
  /// The zone's offset in the quarter of an hour that was asked for last: zones change at none
  /// other than its ends, and asking takes longer than reading a line.
  private var cached: (quarter: Int64, offset: Int64) = (.min, 0)

  /// Clocks differ, and so do zones: a record may be this much later than the reference.
  private static let tolerance: Int64 = 86_400_000

  init(reference: Timestamp?, zone: TimeZone) {
    self.zone = zone
    latest = reference.map {
      max(0, min(253_402_300_799_999, $0.milliseconds)) + Self.tolerance
    }
  }

  /// Completes a time; nil when that cannot be done.
  mutating func time(_ written: WrittenTime) -> Timestamp? {
    switch written {
    case .utc(let milliseconds): return Timestamp(milliseconds: milliseconds)
    case .local(let milliseconds): return Timestamp(milliseconds: utc(milliseconds))
    case .dayless: return nil
    case .yearless(let month, let day, let ofDay, let zone):
      guard let latest else { return nil }
      let newest = Int(Timestamp.year(ofMilliseconds: latest + Self.tolerance))
      // The 29th of February exists in a leap year only, at the latest the eighth year back.
      for year in stride(from: newest, through: max(newest - 9, 1970), by: -1)
      where WrittenTime.isDay(year: year, month: month, day: day) {
        let local = WrittenTime.milliseconds(year: year, month: month, day: day) + ofDay
        let time = zone.map { local - $0 * 1000 } ?? utc(local)
        if time <= latest { return Timestamp(milliseconds: time) }
      }
      return nil
    }
  }

  private mutating func utc(_ local: Int64) -> Int64 {
    let quarter = local / 900_000
    if quarter != cached.quarter {
      // The offset of a clock's time is that of a time which itself depends on the offset.
      let guess = offset(at: local)
      cached = (quarter, offset(at: local - guess))
    }
    return local - cached.offset
  }

  private func offset(at milliseconds: Int64) -> Int64 {
    let date = Timestamp(milliseconds: milliseconds).date
    return Int64(zone.secondsFromGMT(for: date)) * 1000
  }
}

import Foundation
import Platform

/// Completes the times of a log that omit their zone or their year.
struct TimeBasis: Sendable {
  private let zone: TimeZone
  /// The latest possible time of a record without a year; nil if unknown.
  private let latest: Int64?
  /// The zone's offset in the last quarter of an hour: offsets change only at its boundaries, and a
  /// lookup takes longer than parsing a line.
  private var cached: (quarter: Int64, offset: Int64) = (.min, 0)

  /// How much later than the reference a record may be, because clocks and zones differ.
  private static let tolerance: Int64 = 86_400_000

  init(reference: Timestamp?, zone: TimeZone) {
    self.zone = zone
    latest = reference.map {
      max(0, min(253_402_300_799_999, $0.milliseconds)) + Self.tolerance
    }
  }

  /// Completes a time; nil if that is impossible.
  mutating func time(_ written: WrittenTime) -> Timestamp? {
    switch written {
    case .utc(let milliseconds): return Timestamp(milliseconds: milliseconds)
    case .local(let milliseconds): return Timestamp(milliseconds: utc(milliseconds))
    case .dayless: return nil
    case .yearless(let month, let day, let ofDay, let zone):
      guard let latest else { return nil }
      let newest = Int(Timestamp.year(ofMilliseconds: latest + Self.tolerance))
      // February 29 exists in leap years only, at the latest the eighth year back.
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
      // A local time's offset depends on the time, which depends on the offset.
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

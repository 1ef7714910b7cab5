package import Foundation
package import Platform

/// Hours of the day, such as `08:00-20:00 Europe/Berlin`.
package struct AlertHours: Sendable, Equatable {
  /// Minutes since midnight.
  private let start: Int
  private let end: Int
  private let zone: TimeZone

  /// Parses `08:00-20:00`, with or without the name of a time zone; the default is the machine's.
  ///
  /// The end may be on the next day; `24:00` is valid.
  ///
  /// - Returns: nil for anything else.
  package init?(_ text: String, zone local: TimeZone = .current) {
    let words = text.split(separator: " ")
    guard (1...2).contains(words.count) else { return nil }
    let bounds = words[0].split(separator: "-", omittingEmptySubsequences: false)
    guard bounds.count == 2, let start = Self.minutes(bounds[0]), let end = Self.minutes(bounds[1]),
      start < 24 * 60, start != end
    else { return nil }
    guard let zone = words.count == 1 ? local : TimeZone(identifier: String(words[1])) else {
      return nil
    }
    (self.start, self.end, self.zone) = (start, end, zone)
  }

  private static func minutes(_ text: Substring) -> Int? {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 2, parts.allSatisfy({ $0.utf8.count == 2 }), let hour = Int(parts[0]),
      let minute = Int(parts[1]), (0...24).contains(hour), (0..<60).contains(minute),
      hour * 60 + minute <= 24 * 60
    else { return nil }
    return hour * 60 + minute
  }

  /// The beginning of the hours that contain a time, by the same clock; nil for a time outside them.
  package func beginning<Time: ClockTime>(of time: Time) -> Time? {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = zone
    let parts = calendar.dateComponents(
      [.hour, .minute, .second], from: Timestamp(milliseconds: time.milliseconds).date)
    let minute = (parts.hour ?? 0) * 60 + (parts.minute ?? 0)
    let sinceStart = (minute - start + 24 * 60) % (24 * 60)
    let length = (end - start + 24 * 60) % (24 * 60)
    guard sinceStart < (length == 0 ? 24 * 60 : length) else { return nil }
    return time - .seconds(sinceStart * 60 + (parts.second ?? 0))
  }
}

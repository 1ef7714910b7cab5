public import Foundation

/// A point in time in UTC, in milliseconds, as in every record and sidecar.
public struct Timestamp: Sendable, Hashable, Comparable {
  /// Milliseconds since 1970-01-01T00:00:00Z.
  public let milliseconds: Int64

  /// Makes a time.
  public init(milliseconds: Int64) { self.milliseconds = milliseconds }

  /// The time of a date, rounded down to the millisecond.
  public init(_ date: Date) {
    let time = (date.timeIntervalSince1970 * 1000).rounded(.down)
    // A store may state any date: clamp to the years 0 to 9999.
    let range = (Double(Self.writable.lowerBound), Double(Self.writable.upperBound))
    milliseconds = time.isNaN ? 0 : Int64(min(max(time, range.0), range.1))
  }

  /// The system clock's time.
  public static func now() -> Timestamp {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Timestamp(milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
  }

  /// As a date.
  public var date: Date { Date(timeIntervalSince1970: Double(milliseconds) / 1000) }

  /// Orders by time.
  public static func < (left: Timestamp, right: Timestamp) -> Bool {
    left.milliseconds < right.milliseconds
  }

  /// `2026-01-22`.
  public var day: String { String(decoding: isoBytes.prefix(10), as: UTF8.self) }

  /// `20260122t143005z`, the start of a session id.
  public var compact: String {
    let kept = isoBytes.prefix(19).filter { $0 != 0x2d && $0 != 0x3a }
    return String(decoding: kept, as: UTF8.self).lowercased() + "z"
  }

  /// Milliseconds of the years 0 to 9999, which can be written.
  package static let writable: ClosedRange<Int64> = -62_167_219_200_000...253_402_300_799_999

  /// `2026-01-22T14:30:05.123Z` in ASCII, always 24 bytes; years outside 0 to 9999 are clamped.
  public var isoBytes: [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(24)
    appendISO(to: &bytes)
    return bytes
  }

  /// Appends ``isoBytes``.
  package func appendISO(to out: inout [UInt8]) {
    let clamped = min(max(milliseconds, Self.writable.lowerBound), Self.writable.upperBound)
    let (days, ofDay) = Self.floorDivide(clamped, 86_400_000)
    let (year, month, day) = Self.civil(fromDays: days)
    func put(_ value: Int64, _ width: Int) {
      var divisor: Int64 = 1
      for _ in 1..<width { divisor *= 10 }
      while divisor > 0 {
        out.append(0x30 + UInt8(value / divisor % 10))
        divisor /= 10
      }
    }
    put(year, 4)
    out.append(0x2d)
    put(month, 2)
    out.append(0x2d)
    put(day, 2)
    out.append(0x54)
    put(ofDay / 3_600_000, 2)
    out.append(0x3a)
    put(ofDay / 60_000 % 60, 2)
    out.append(0x3a)
    put(ofDay / 1000 % 60, 2)
    out.append(0x2e)
    put(ofDay % 1000, 3)
    out.append(0x5a)
  }

  /// Parses `2026-01-22T14:30:05.123Z`; the fraction may be missing or have up to 9 digits.
  public init?(iso text: String) {
    var text = text
    let parsed = text.withUTF8 { Timestamp.parse(UnsafeRawBufferPointer($0)) }
    guard let (time, length) = parsed, length == text.utf8.count else { return nil }
    self = time
  }

  /// Parses a time at the start of some bytes.
  ///
  /// - Returns: the time and its length in bytes; nil without one.
  package static func parse(_ bytes: UnsafeRawBufferPointer) -> (Timestamp, Int)? {
    guard bytes.count >= 20, bytes[4] == 0x2d, bytes[7] == 0x2d,
      bytes[10] == 0x54 || bytes[10] == 0x20, bytes[13] == 0x3a, bytes[16] == 0x3a
    else { return nil }
    // Every line of a log comes here: handle two digits at a time, and check them all at once.
    var isNumber = true
    func pair(_ at: Int) -> Int64 {
      let (tens, ones) = (bytes[at] &- 0x30, bytes[at + 1] &- 0x30)
      isNumber = isNumber && tens < 10 && ones < 10
      return Int64(tens) * 10 + Int64(ones)
    }
    let year = pair(0) * 100 + pair(2)
    let (month, day) = (pair(5), pair(8))
    let (hour, minute, second) = (pair(11), pair(14), pair(17))
    guard isNumber, (1...12).contains(month), (1...31).contains(day), hour < 24, minute < 60,
      second < 61
    else { return nil }
    var index = 19
    var fraction: Int64 = 0
    if bytes[index] == 0x2e {
      index += 1
      var scale: Int64 = 100
      let start = index
      while index < bytes.count, index - start < 9, (0x30...0x39).contains(bytes[index]) {
        fraction += Int64(bytes[index] - 0x30) * scale
        scale /= 10
        index += 1
      }
    }
    guard index < bytes.count, bytes[index] == 0x5a else { return nil }
    let seconds = days(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second
    return (Timestamp(milliseconds: seconds * 1000 + fraction), index + 1)
  }

  /// The year in UTC.
  package static func year(ofMilliseconds milliseconds: Int64) -> Int64 {
    civil(fromDays: floorDivide(milliseconds, 86_400_000).0).0
  }

  // Days and civil dates after Howard Hinnant, "chrono-compatible low-level date algorithms".

  /// Year, month and day of days since 1970-01-01.
  package static func civil(fromDays days: Int64) -> (Int64, Int64, Int64) {
    let shifted = days + 719_468
    let (era, ofEra) = floorDivide(shifted, 146_097)
    let yearOfEra = (ofEra - ofEra / 1460 + ofEra / 36_524 - ofEra / 146_096) / 365
    let ofYear = ofEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shiftedMonth = (5 * ofYear + 2) / 153
    let day = ofYear - (153 * shiftedMonth + 2) / 5 + 1
    let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
    return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day)
  }

  /// Days since 1970-01-01.
  package static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
    let shifted = month <= 2 ? year - 1 : year
    let (era, yearOfEra) = floorDivide(shifted, 400)
    let ofYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    let ofEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + ofYear
    return era * 146_097 + ofEra - 719_468
  }

  // Inlined, so that the divisors are constants.
  @inline(__always)
  private static func floorDivide(_ value: Int64, _ by: Int64) -> (Int64, Int64) {
    let remainder = ((value % by) + by) % by
    return ((value - remainder) / by, remainder)
  }
}

extension Timestamp: ClockTime {}

extension Timestamp: CustomStringConvertible {
  /// `2026-01-22T14:30:05.123Z`.
  public var description: String { String(decoding: isoBytes, as: UTF8.self) }
}

extension Timestamp: Codable {
  /// Reads the ISO form.
  public init(from decoder: any Decoder) throws {
    let text = try decoder.singleValueContainer().decode(String.self)
    guard let time = Timestamp(iso: text) else {
      throw DecodingError.dataCorrupted(
        .init(codingPath: decoder.codingPath, debugDescription: "not a UTC time"))
    }
    self = time
  }

  /// Writes the ISO form.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }
}

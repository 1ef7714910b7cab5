import Platform

/// Which date of one clock fell on which lived second: one row an hour for two days, one a day for
/// two months, one a week before that.
///
/// The clock may have been set between two rows. So for a date between them the later row's second
/// counts, which makes the event look younger, unless clock and count advanced alike.
struct LivedCalendar: Sendable, Equatable, Codable {
  /// A date, seen at a lived second.
  struct Row: Sendable, Equatable, Codable {
    /// Seconds since 1970.
    let date: Int64
    /// Lived seconds.
    let lived: Int64
  }

  /// The rows, in the order they were recorded.
  private(set) var rows: [Row] = []

  /// Lived seconds between rows, by the minimum age of the rows in lived seconds.
  private static let intervals: [(age: Int64, seconds: Int64)] = [
    (60 * 86_400, 7 * 86_400), (2 * 86_400, 86_400), (0, 3600),
  ]
  /// Maximum number of rows.
  private static let limit = 500
  /// The largest difference between a clock and the count between two rows, in seconds, unless the
  /// clock was set.
  private static let tolerance: Int64 = 120
  /// A clock that shows an earlier date was never set: 2024-01-01.
  private static let earliest: Int64 = 1_704_067_200
  /// No clock shows a later date: the year 10000.
  private static let latest: Int64 = 253_402_300_800

  /// Records a date.
  ///
  /// - Parameters:
  ///   - date: the clock's date.
  ///   - lived: the current lived second.
  mutating func record(_ date: some ClockTime, lived: Int64) {
    let row = Row(date: date.milliseconds / 1000, lived: lived)
    guard (Self.earliest..<Self.latest).contains(row.date) else { return }
    if let last = rows.last, row.lived - last.lived < Self.interval(at: 0), isSteady(last, row) {
      return
    }
    rows.append(row)
    thinOut(at: lived)
  }

  /// Minimum lived time since a date; nil if the date is in the future as far as is known, or its
  /// clock was never set.
  func age(since date: some ClockTime, lived: Int64) -> Duration? {
    lastSecond(of: date, lived: lived).map { .seconds(max(0, lived - $0)) }
  }

  /// The latest lived second on which a date can have fallen.
  private func lastSecond(of date: some ClockTime, lived: Int64) -> Int64? {
    let date = date.milliseconds / 1000
    guard date >= Self.earliest, let first = rows.first, let last = rows.last else { return nil }
    // The clock has advanced since the last row.
    guard date <= last.date + max(0, lived - last.lived) + Self.tolerance else { return nil }
    if date >= last.date { return last.lived + (date - last.date) }
    for (before, after) in zip(rows, rows.dropFirst()).reversed() {
      let span = min(before.date, after.date)...max(before.date, after.date)
      guard span.contains(date) else { continue }
      guard isSteady(before, after) else { return after.lived }
      return before.lived + (date - before.date)
    }
    return first.lived
  }

  /// Whether clock and count advanced alike between two rows.
  private func isSteady(_ before: Row, _ after: Row) -> Bool {
    abs((after.date - before.date) - (after.lived - before.lived)) <= Self.tolerance
  }

  private mutating func thinOut(at lived: Int64) {
    var kept: [Row] = []
    for row in rows {
      let interval = Self.interval(at: lived - row.lived)
      // Keep rows from before the clock was set as long as they are young.
      if let last = kept.last, interval > Self.interval(at: 0), row.lived - last.lived < interval {
        continue
      }
      kept.append(row)
    }
    rows = kept.suffix(Self.limit)
  }

  private static func interval(at age: Int64) -> Int64 {
    intervals.first { age >= $0.age }?.seconds ?? 0
  }

  /// Whether a row since an earlier state shows that the clock was set, or is the first one.
  func showsStep(since earlier: LivedCalendar?) -> Bool {
    guard let known = earlier?.rows.last else { return !rows.isEmpty }
    return rows.contains { $0.lived >= known.lived && $0 != known && !isSteady(known, $0) }
  }

  /// Whether rows from a file are plausible.
  var isPossible: Bool {
    rows.count <= Self.limit
      && rows.allSatisfy {
        (Self.earliest..<Self.latest).contains($0.date) && (0...Self.latest).contains($0.lived)
      }
      && zip(rows, rows.dropFirst()).allSatisfy { $0.lived <= $1.lived }
  }
}

extension LivedCalendar {
  init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: FieldKey.self)
    rows = try fields.decode([Row].self, forKey: "rows")
  }
}

extension LivedCalendar.Row {
  init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: FieldKey.self)
    date = try fields.decode(Int64.self, forKey: "date")
    lived = try fields.decode(Int64.self, forKey: "lived")
  }
}

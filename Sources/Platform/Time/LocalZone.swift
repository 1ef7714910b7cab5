package import Foundation

/// The time zone of times for people.
package struct LocalZone: Sendable {
  /// Seconds east of Greenwich at a moment.
  private let offset: @Sendable (Timestamp) -> Int64

  /// A zone of the database; for tests.
  package init(_ zone: TimeZone) {
    offset = { Int64(zone.secondsFromGMT(for: $0.date)) }
  }

  private init(_ offset: @escaping @Sendable (Timestamp) -> Int64) { self.offset = offset }

  /// UTC.
  package static let utc = LocalZone { _ in 0 }

  /// This process's zone, from `TZ` or the machine.
  ///
  /// Uses the system's functions instead of Foundation's, which load their database at each start.
  package static let current = LocalZone { time in
    var seconds = time_t(time.date.timeIntervalSince1970.rounded(.down))
    var parts = tm()
    guard localtime_r(&seconds, &parts) != nil else { return 0 }
    return Int64(parts.tm_gmtoff)
  }

  // MARK: Writing

  /// `2026-11-22 10:00:05` in local time.
  package func text(_ time: Timestamp) -> String {
    String(decoding: local(time).isoBytes.prefix(19), as: UTF8.self).replacing("T", with: " ")
  }

  /// The same with the zone's offset at that moment: `2026-11-22 10:00:05 +01:00`.
  package func textWithOffset(_ time: Timestamp) -> String {
    "\(text(time)) \(offsetText(at: time))"
  }

  /// The local calendar day: `2026-11-22`.
  package func day(_ time: Timestamp) -> String { local(time).day }

  private func offsetText(at time: Timestamp) -> String {
    let minutes = offset(time) / 60
    guard minutes != 0 else { return "UTC" }
    func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
    return "\(minutes < 0 ? "-" : "+")\(two(abs(minutes) / 60)):\(two(abs(minutes) % 60))"
  }

  /// The local time, as if it were UTC.
  private func local(_ time: Timestamp) -> Timestamp { time + .seconds(offset(time)) }

  // MARK: Reading

  /// The first and last moment at which local clocks show a time, which is given as if it were UTC.
  ///
  /// Clocks that are set back show an hour twice. Clocks that are set forward skip one: for a
  /// skipped time, the moment is that of the change.
  package func moments(showing wanted: Timestamp) -> ClosedRange<Timestamp> {
    // No zone changes its clocks twice within two days, or by more than one.
    let before = offset(wanted - .days(1))
    let after = offset(wanted + .days(1))
    let moments = Set([before, after]).map { wanted - .seconds($0) }.filter { local($0) == wanted }
    if let first = moments.min(), let last = moments.max() { return first...last }
    var early = wanted - .days(1)
    var late = wanted + .days(1)
    while late - early > .milliseconds(1) {
      let middle = Timestamp(
        milliseconds: early.milliseconds + (late.milliseconds - early.milliseconds) / 2)
      if offset(middle) == before { early = middle } else { late = middle }
    }
    return late...late
  }
}

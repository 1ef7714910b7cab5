package import Platform
package import SessionLog

/// `<session>.keep.<yyyymmdd>.json`: keeps a session beyond its retention, up to and including a
/// day by the server's clock.
package struct HoldName: Sendable, Hashable {
  /// The session.
  package let session: SessionID
  /// The last day of the hold, `2027-02-20`.
  package let day: String

  /// Names a hold.
  ///
  /// - Parameter end: a moment on the last day.
  package init(_ session: SessionID, until end: ServerTime) {
    self.session = session
    day = Timestamp(milliseconds: end.milliseconds).day
  }

  /// Reads a file name; nil for anything that ``fileName`` does not write.
  package init?(_ fileName: String) {
    let parts = fileName.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 4, parts[1] == "keep", parts[3] == "json", parts[2].utf8.count == 8,
      let session = SessionID(String(parts[0]))
    else { return nil }
    let digits = parts[2]
    let day = "\(digits.prefix(4))-\(digits.dropFirst(4).prefix(2))-\(digits.suffix(2))"
    guard let start = Timestamp(iso: day + "T00:00:00Z"), start.day == day else { return nil }
    (self.session, self.day) = (session, day)
  }

  /// The name inside its ``SessionFolder``.
  package var fileName: String { "\(session).keep.\(day.filter { $0 != "-" }).json" }
}

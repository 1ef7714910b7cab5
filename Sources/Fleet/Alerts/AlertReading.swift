package import Platform

/// The news in a store since the last pass, as far as rules need it.
package struct AlertReading: Sendable, Equatable {
  /// Sessions that ended badly.
  package var crashes: [CrashReport] = []
  /// Records that rules count.
  package var records: [MatchedRecords] = []
  /// When the newest object of each device, and of each known session, was written.
  package var heard: [Heard] = []
  /// Skipped unreadable objects, one line each for a person.
  package var problems: [String] = []

  /// No news.
  package init() {}

  /// When a device or session last sent something.
  package struct Heard: Sendable, Equatable {
    /// A device or, with ``AlertSubject/session``, one of its sessions.
    package let subject: AlertSubject
    /// When its newest object was written, by the server's clock.
    package let newest: ServerTime

    /// Makes an entry.
    package init(_ subject: AlertSubject, newest: ServerTime) {
      (self.subject, self.newest) = (subject, newest)
    }
  }
}

/// Records of one session that one rule counts.
package struct MatchedRecords: Sendable, Equatable {
  /// The rule's name.
  package let rule: String
  /// The session.
  package let subject: AlertSubject
  /// Number of records, by the minute since 1970 in which they were written.
  package var minutes: [Int64: Int] = [:]
  /// Their highest level.
  package var level: String
  /// The first lines that matched, sanitized and truncated.
  package var lines: [String] = []
  /// Stream offset of the first record.
  package let offset: Int64
  /// Times of the earliest and the latest record, by the server's clock.
  package var times: ClosedRange<ServerTime>

  /// Makes an entry from the first record.
  package init(
    rule: String, _ subject: AlertSubject, at time: ServerTime, level: String, offset: Int64
  ) {
    (self.rule, self.subject, self.level, self.offset) = (rule, subject, level, offset)
    times = time...time
  }

  /// Maximum number of lines shown.
  package static let mostLines = 5

  /// Number of records.
  package var count: Int { minutes.values.reduce(0, +) }

  /// Counts a record.
  package mutating func add(at time: ServerTime) {
    minutes[time.milliseconds / 60_000, default: 0] += 1
    times = min(times.lowerBound, time)...max(times.upperBound, time)
  }
}

package import Platform

/// The news in a store since the last pass, as far as rules need it.
package struct AlertReading: Sendable, Equatable {
  /// Sessions that have ended badly.
  package var crashes: [CrashReport] = []
  /// Records that rules count.
  package var records: [MatchedRecords] = []
  /// When the newest object of each device, and of each session that is known, was written.
  package var heard: [Heard] = []
  /// Skipped unreadable objects, one line each for a person.
  package var problems: [String] = []

  /// Nothing.
  package init() {}

  /// When somebody was last heard of.
  package struct Heard: Sendable, Equatable {
    /// A device or, with ``AlertSubject/session``, one of its sessions.
    package let subject: AlertSubject
    /// When its newest object was written, by the server's clock.
    package let newest: Timestamp

    /// Makes one.
    package init(_ subject: AlertSubject, newest: Timestamp) {
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
  /// How many, by the minute since 1970 in which they were written.
  package var minutes: [Int64: Int] = [:]
  /// Their highest level.
  package var level: String
  /// The first lines that matched, harmless and cut.
  package var lines: [String] = []
  /// Stream offset of the first of them.
  package let offset: Int64
  /// Time of the first and of the last.
  package var times: ClosedRange<Timestamp>

  /// Makes one of a first record.
  package init(
    rule: String, _ subject: AlertSubject, at time: Timestamp, level: String, offset: Int64
  ) {
    (self.rule, self.subject, self.level, self.offset) = (rule, subject, level, offset)
    times = time...time
  }

  /// How many lines are shown.
  package static let mostLines = 5

  /// How many records there are.
  package var count: Int { minutes.values.reduce(0, +) }

  /// Counts a record.
  package mutating func add(at time: Timestamp) {
    minutes[time.milliseconds / 60_000, default: 0] += 1
    times = min(times.lowerBound, time)...max(times.upperBound, time)
  }
}

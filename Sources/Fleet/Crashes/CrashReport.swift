import LogRecords
package import Platform
package import SessionLog

/// One session that ended badly, according to its sidecar.
package struct CrashReport: Sendable, Equatable {
  /// The session.
  package let subject: AlertSubject
  /// How it ended, `signal 11 (SIGSEGV)`; `unknown` if it is not recorded.
  package let cause: String
  /// When, by the device's clock, corrected where the sidecar knows how far that is off.
  package let endedAt: Timestamp
  /// Whether it crashed, rather than exited with another status than 0.
  package let isCrash: Bool
  /// The signature of this kind of crash.
  package let signature: CrashSignature
  /// The lines of the log that count for the signature, redacted as they left the device, harmless
  /// and cut.
  package let lines: [String]
  /// The one of them that says most.
  package let headline: String?

  /// Reads a sidecar of a session that has ended.
  package init(_ sidecar: Sidecar) {
    subject = AlertSubject(sidecar)
    cause = sidecar.cause?.description ?? "unknown"
    let offset = Duration.milliseconds(sidecar.clockOffset ?? 0)
    endedAt = (sidecar.endedAt ?? sidecar.lastUpdatedAt) + offset
    isCrash = sidecar.status == .crashed
    let last = sidecar.crash?.lines ?? []
    signature = CrashSignature(app: sidecar.appName, cause: cause, lines: last)
    (lines, headline) = Self.shown(last)
  }

  /// A session of which this is known.
  init(
    _ subject: AlertSubject, cause: String, endedAt: Timestamp, isCrash: Bool, lines: [String] = []
  ) {
    (self.subject, self.cause, self.endedAt) = (subject, cause, endedAt)
    self.isCrash = isCrash
    signature = CrashSignature(app: subject.app ?? "", cause: cause, lines: lines)
    (self.lines, headline) = Self.shown(lines)
  }

  private static func shown(_ lines: [String]) -> (lines: [String], headline: String?) {
    let lines = CrashSignature.counting(lines)
    let headline = CrashSignature.headline(of: lines).map { LineText.harmless($0.text) }
    return (lines.map { LineText.harmless($0.whole) }, headline)
  }
}

/// Lines of logs as alerts carry them.
enum LineText {
  /// Scalars of a line that are kept.
  private static let longest = 1024

  /// A line that is plain text to every terminal, shell and chat.
  static func harmless(_ line: some StringProtocol) -> String {
    String(oneLine: line, limit: longest)
  }
}

import LogRecords
package import Platform
package import SessionLog

/// One session that ended badly, according to its sidecar.
package struct CrashReport: Sendable, Equatable {
  /// The session.
  package let subject: AlertSubject
  /// How it ended, `signal 11 (SIGSEGV)`; `unknown` if it is not recorded.
  package let cause: String
  /// When it ended, by the device's clock, corrected by the sidecar's clock offset if known.
  package let endedAt: Timestamp
  /// Whether it crashed, rather than exited with a nonzero status.
  package let isCrash: Bool
  /// The signature of this kind of crash.
  package let signature: CrashSignature
  /// The lines of the log that determine the signature, redacted by the device, sanitized and
  /// truncated.
  package let lines: [String]
  /// The most significant of them.
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

  /// Makes a report from its parts.
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
    let headline = CrashSignature.headline(of: lines).map { LineText.sanitized($0.text) }
    return (lines.map { LineText.sanitized($0.whole) }, headline)
  }
}

/// Lines of logs as they appear in alerts.
enum LineText {
  /// Maximum number of scalars of a line, and of its bytes in the file between passes.
  private static let longest = (scalars: 1024, bytes: 4096)

  /// A line as plain text, without characters special to terminals.
  static func sanitized(_ line: some StringProtocol) -> String {
    String(storedLine: line, limit: longest.scalars, bytes: longest.bytes)
  }
}

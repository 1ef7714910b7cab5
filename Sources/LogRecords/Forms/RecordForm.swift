/// The formats of other programs' records, the most specific ones first.
public enum RecordForm: String, CaseIterable, Sendable {
  /// Android's logcat: `01-22 14:30:05.123  1702  2395 E Tag: message`.
  case android
  /// Apple's unified log and NSLog.
  case apple
  /// Access logs of Apache, nginx and similar servers.
  case access
  /// Syslog of RFC 3164 and 5424, and the output of journalctl.
  case syslog
  /// One JSON object per line.
  case json
  /// Pairs of names and values: `level=error msg="it failed"`.
  case logfmt
  /// A level at the start: `[WARN]: message`, `ERROR 2026-01-22 14:30:05 message`.
  case level
  /// A time and a level: log4j, Python's logging, error logs of web servers, bracketed records.
  case timeAndLevel
  /// A time and no other known field.
  case time
  /// The prefix by which services give journald a level: `<3>message`.
  case priority

  /// Whether such a line shows the format of the lines around it.
  var isConclusive: Bool { self != .time && self != .priority }

  /// Parses the first line of a record.
  ///
  /// - Parameters:
  ///   - line: without its newline, not empty.
  ///   - isExpected: whether the last record had this format; then the criteria are weaker.
  /// - Returns: nil for a line of another format.
  func read(_ line: ByteScanner, isExpected: Bool) -> RecordHead? {
    switch self {
    case .android: AndroidForm.read(line)
    case .apple: AppleForm.read(line)
    case .access: AccessLogForm.read(line)
    case .syslog: SyslogForm.read(line)
    case .json: JSONLinesForm.read(line, isExpected: isExpected)
    case .logfmt: LogfmtForm.read(line, isExpected: isExpected)
    case .level: LevelFirstForm.read(line, needsTime: true)
    case .timeAndLevel: TimedForm.read(line)
    case .time: TimedForm.readTime(line)
    case .priority: SyslogForm.readPriority(line)
    }
  }
}

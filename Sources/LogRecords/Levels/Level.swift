/// The severity of a record, lowest first.
public enum Level: UInt8, CaseIterable, Comparable, Sendable {
  case trace, debug, info, success, warning, error, fault

  /// `TRACE` … `FAULT`.
  public var name: String {
    switch self {
    case .trace: "TRACE"
    case .debug: "DEBUG"
    case .info: "INFO"
    case .success: "SUCCESS"
    case .warning: "WARNING"
    case .error: "ERROR"
    case .fault: "FAULT"
    }
  }

  /// Parses a name in any case, including names used by other programs.
  public init?(name: String) {
    var name = name
    let found = name.withUTF8 { Level(UnsafeRawBufferPointer($0)) }
    guard let found else { return nil }
    self = found
  }

  /// Parses a name from raw bytes.
  init?(_ bytes: UnsafeRawBufferPointer) {
    guard let level = Self.names[bytes] else { return nil }
    self = level
  }

  private static let names = LevelNames([
    ("TRACE", .trace), ("DEBUG", .debug), ("INFO", .info), ("NOTICE", .info),
    ("SUCCESS", .success), ("WARNING", .warning), ("WARN", .warning), ("ERROR", .error),
    ("ERR", .error), ("FAIL", .error), ("FAULT", .fault), ("CRITICAL", .fault),
    ("CRIT", .fault), ("FATAL", .fault), ("ALERT", .fault), ("EMERG", .fault),
  ])

  /// Orders by severity.
  public static func < (left: Level, right: Level) -> Bool { left.rawValue < right.rawValue }
}

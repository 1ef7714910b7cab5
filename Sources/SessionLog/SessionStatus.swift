#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// How a session ended, if it has.
public enum SessionStatus: String, Sendable, Codable, CaseIterable {
  /// It is running, or its end is not known yet.
  case active = "ACTIVE"
  /// The program exited, with any status, or was asked to stop.
  case terminated = "TERMINATED"
  /// It was killed, or vanished.
  case crashed = "CRASHED"
}

/// The cause of a session's end, if known.
public enum ExitCause: Sendable, Hashable, CustomStringConvertible {
  /// The program exited with a status.
  case exit(Int32)
  /// The program died of a signal.
  case signal(Int32)
  /// The recorder was killed; the program's end is unknown.
  case recorderLost
  /// The kernel killed it because its control group, or the machine, ran out of memory.
  case outOfMemory
  /// The machine went down.
  case reboot
  /// The end of an attached file, whose program is unknown.
  case file(FileEnd)

  /// How an incarnation of an attached file ended.
  public enum FileEnd: String, Sendable, CaseIterable {
    /// It was renamed, copied or compressed away, or replaced.
    case rotated
    /// It was removed.
    case removed
    /// It did not grow for a long time.
    case idle
    /// It was imported at its present length.
    case imported
  }

  /// Whether `list --failed` selects it.
  public var isFailure: Bool {
    if case .file = self { return false }
    return self != .exit(0) && !isRequested
  }

  /// The resulting status: INT, TERM and HUP ask a program to end, other signals crash it.
  public var status: SessionStatus {
    switch self {
    case .exit, .file: .terminated
    default: isRequested ? .terminated : .crashed
    }
  }

  private var isRequested: Bool {
    if case .signal(let number) = self { return [1, 2, 15].contains(number) }
    return false
  }

  /// Signals with the same number everywhere, and those that stop a program on this platform.
  private static let signalNames: [Int32: String] = [
    1: "SIGHUP", 2: "SIGINT", 3: "SIGQUIT", 4: "SIGILL", 5: "SIGTRAP", 6: "SIGABRT", 8: "SIGFPE",
    9: "SIGKILL", 11: "SIGSEGV", 13: "SIGPIPE", 14: "SIGALRM", 15: "SIGTERM",
    SIGSTOP: "SIGSTOP", SIGTSTP: "SIGTSTP", SIGTTIN: "SIGTTIN", SIGTTOU: "SIGTTOU",
  ]

  /// A signal's name, or its number if it has none here.
  package static func name(ofSignal number: Int32) -> String {
    signalNames[number] ?? "signal \(number)"
  }

  /// `exit 3`, `signal 9 (SIGKILL)`, `recorder lost`, `out of memory`, `reboot`, `rotated`.
  public var description: String {
    switch self {
    case .exit(let status): "exit \(status)"
    case .signal(let number):
      "signal \(number)" + (Self.signalNames[number].map { " (\($0))" } ?? "")
    case .recorderLost: "recorder lost"
    case .outOfMemory: "out of memory"
    case .reboot: "reboot"
    case .file(let end): end.rawValue
    }
  }

  /// Parses the form of ``description``.
  public init?(_ text: String) {
    let words = text.split(separator: " ")
    switch words.first {
    case "exit" where words.count == 2:
      guard let status = Int32(words[1]) else { return nil }
      self = .exit(status)
    case "signal" where words.count >= 2:
      guard let number = Int32(words[1]) else { return nil }
      self = .signal(number)
    case "recorder" where text == "recorder lost": self = .recorderLost
    case "out" where text == "out of memory": self = .outOfMemory
    case "reboot" where words.count == 1: self = .reboot
    default:
      guard let end = FileEnd(rawValue: text) else { return nil }
      self = .file(end)
    }
  }
}

extension ExitCause: Codable {
  /// Reads the string form.
  public init(from decoder: any Decoder) throws {
    let text = try decoder.singleValueContainer().decode(String.self)
    guard let cause = ExitCause(text) else {
      throw DecodingError.dataCorrupted(
        .init(codingPath: decoder.codingPath, debugDescription: "not an exit cause"))
    }
    self = cause
  }

  /// Writes the string form.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }
}

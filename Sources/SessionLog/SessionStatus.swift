#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// What became of a session.
public enum SessionStatus: String, Sendable, Codable, CaseIterable {
  /// It goes on, or nobody could tell yet that it does not.
  case active = "ACTIVE"
  /// The program exited, with whatever status, or was asked to stop.
  case terminated = "TERMINATED"
  /// It was killed, or vanished.
  case crashed = "CRASHED"
}

/// How a session ended, where it can be known.
public enum ExitCause: Sendable, Hashable, CustomStringConvertible {
  /// The program exited with a status.
  case exit(Int32)
  /// The program died of a signal.
  case signal(Int32)
  /// The recorder was killed; what became of the program is not known.
  case recorderLost
  /// The kernel killed it because its control group, or the machine, was out of memory.
  case outOfMemory
  /// The machine went down.
  case reboot
  /// What ended an attached file, of whose program nothing is known.
  case file(FileEnd)

  /// How an incarnation of an attached file ended.
  public enum FileEnd: String, Sendable, CaseIterable {
    /// It was renamed, copied or compressed away, or was written anew.
    case rotated
    /// It was removed.
    case removed
    /// Nothing came for a long time.
    case idle
    /// It was imported as it stood.
    case imported
  }

  /// Whether `list --failed` selects it.
  public var isFailure: Bool {
    if case .file = self { return false }
    return self != .exit(0) && !isRequested
  }

  /// The verdict that follows: INT, TERM and HUP ask a program to end, other signals break it.
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

  /// Those whose numbers are the same everywhere, and the ones that stop a program here.
  private static let signalNames: [Int32: String] = [
    1: "SIGHUP", 2: "SIGINT", 3: "SIGQUIT", 4: "SIGILL", 5: "SIGTRAP", 6: "SIGABRT", 8: "SIGFPE",
    9: "SIGKILL", 11: "SIGSEGV", 13: "SIGPIPE", 14: "SIGALRM", 15: "SIGTERM",
    SIGSTOP: "SIGSTOP", SIGTSTP: "SIGTSTP", SIGTTIN: "SIGTTIN", SIGTTOU: "SIGTTOU",
  ]

  /// A signal's name; its number where it has none here.
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

  /// Reads what ``description`` writes.
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

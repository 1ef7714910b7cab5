/// An event during a session, as written in the recorder's records.
public enum SessionEvent: Sendable, Equatable, CustomStringConvertible {
  /// The program, or the whole machine, has stopped running: stopped by a signal, asleep.
  case background(String)
  /// It runs again.
  case foreground(String)
  /// The machine has lost its network.
  case networkLost
  /// The network is back.
  case networkBack
  /// The terminal's size in characters, and its type.
  case window(columns: Int, rows: Int, terminal: String?)
  /// A scenario, and its new state.
  case scenario(String)

  /// `BACKGROUND stopped by SIGTSTP`, `FOREGROUND continued`, `NETWORK lost`,
  /// `WINDOW 80x24 xterm`, `SCENARIO Checkout on`.
  public var description: String {
    switch self {
    case .background(let why): "BACKGROUND \(why)"
    case .foreground(let why): "FOREGROUND \(why)"
    case .networkLost: "NETWORK lost"
    case .networkBack: "NETWORK back"
    case .window(let columns, let rows, let terminal):
      "WINDOW \(columns)x\(rows)" + (terminal.map { " \($0)" } ?? "")
    case .scenario(let what): "SCENARIO \(what)"
    }
  }

  /// Parses the form of ``description``; nil for any other record.
  public init?(_ text: some StringProtocol) {
    let words = text.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
    guard words.count == 2 else { return nil }
    let rest = String(words[1])
    switch words[0] {
    case "BACKGROUND": self = .background(rest)
    case "FOREGROUND": self = .foreground(rest)
    case "SCENARIO": self = .scenario(rest)
    case "NETWORK" where rest == "lost": self = .networkLost
    case "NETWORK" where rest == "back": self = .networkBack
    case "WINDOW":
      let parts = rest.split(separator: " ", maxSplits: 1)
      let sizes = parts.first?.split(separator: "x").compactMap { Int($0) } ?? []
      guard sizes.count == 2, sizes.allSatisfy((1...32_767).contains) else { return nil }
      self = .window(
        columns: sizes[0], rows: sizes[1], terminal: parts.count > 1 ? String(parts[1]) : nil)
    default: return nil
    }
  }
}

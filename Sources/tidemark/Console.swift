import Foundation
import LogRecords
import Platform

/// Prints results on standard output, and everything else on standard error.
enum Console {
  static let outputIsTerminal = isatty(STDOUT_FILENO) == 1
  static let errorIsTerminal = isatty(STDERR_FILENO) == 1
  /// Width of the terminal for results; nil if they do not go to a terminal, and nothing is cut.
  static var width: Int? {
    guard outputIsTerminal else { return nil }
    var size = winsize()
    if ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 {
      return Int(size.ws_col)
    }
    return environment["COLUMNS"].flatMap(Int.init).flatMap { $0 > 0 ? $0 : nil } ?? 80
  }

  /// Prints a table, fitted to the terminal; omitted columns are named on standard error.
  ///
  /// - Parameter choosesColumns: whether the command has `--columns`.
  static func show(_ table: Table, choosesColumns: Bool = false) {
    let rendering = table.render(width: width, paint: paint)
    for line in rendering.lines { say(painted: line) }
    remark(omitted: rendering.omitted, choosesColumns: choosesColumns)
  }

  /// Names omitted columns on standard error.
  static func remark(omitted: [String], choosesColumns: Bool) {
    guard !omitted.isEmpty else { return }
    remark(
      "no room for \(omitted.joined(separator: ", ")): widen the terminal"
        + (choosesColumns ? ", or choose with --columns" : ""))
  }

  private static let environment = ProcessInfo.processInfo.environment
  /// The value of `--color`; nil to let terminal and environment decide.
  static let forcedColour = Guarded<Bool?>(nil)
  /// Whether results are coloured.
  static var hasColour: Bool { forcedColour.withLock { $0 } ?? usuallyHasColour }
  private static let usuallyHasColour =
    outputIsTerminal && (environment["NO_COLOR"] ?? "").isEmpty && environment["TERM"] != "dumb"

  /// The path of this program.
  static var ownPath: String { Bundle.main.executablePath ?? CommandLine.arguments[0] }

  /// Prints a line of the result.
  ///
  /// It may contain text of a store or another user, and stays one line without colours, also in a
  /// pipe.
  static func say(_ line: String = "") { TerminalText.line(line).withUnsafeBytes(draw) }

  /// Prints a text of our own of several lines, such as a policy.
  static func say(lines: String) {
    let bytes = Array((lines + "\n").utf8)
    let harmless = bytes.withUnsafeBytes { TerminalText.harmless($0, keepsColours: false) }
    harmless.withUnsafeBytes(draw)
  }

  /// Prints a line with colours of ``paint(_:_:)``; what it is made of has to be escaped.
  static func say(painted line: String) { write(Array((line + "\n").utf8)) }

  /// Prints bytes of the result.
  static func write(_ bytes: [UInt8]) { bytes.withUnsafeBytes(write) }

  /// Prints bytes of a log: unchanged, but on a terminal made harmless; its own colours are escaped.
  static func show(_ bytes: UnsafeRawBufferPointer) {
    guard outputIsTerminal else { return draw(bytes) }
    TerminalText.harmless(bytes, keepsColours: false).withUnsafeBytes(draw)
  }

  /// Prints a line of a log: unchanged, but on a terminal harmless and in its level's colour.
  static func show(_ line: RecordLine) {
    guard outputIsTerminal else { return write(line.bytes) }
    let text = paint(String(printable: line.text), colour(of: line.head?.level))
    write(Array((line.bytes.last == 0x0a ? text + "\n" : text).utf8))
  }

  /// Prints bytes of the result: unchanged, but on a terminal made harmless.
  static func write(_ bytes: UnsafeRawBufferPointer) {
    guard outputIsTerminal else { return draw(bytes) }
    TerminalText.harmless(bytes).withUnsafeBytes(draw)
  }

  /// Writes bytes meant for a terminal, unchanged; a closed pipe ends the program, as usual.
  static func draw(_ bytes: UnsafeRawBufferPointer) {
    var rest = bytes
    while !rest.isEmpty {
      let count = Foundation.write(STDOUT_FILENO, rest.baseAddress, rest.count)
      if count < 0 && errno == EINTR { continue }
      guard count > 0 else {
        if errno == EPIPE { ExitStatus.leave(ExitStatus.ok.rawValue) }
        complain("cannot write the output: \(String(cString: strerror(errno)))")
        ExitStatus.leave(ExitStatus.tryLater.rawValue)
      }
      rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(count))
    }
  }

  /// Prints the parser's message: help as a result, an error as an error.
  static func answer(_ text: String, isError: Bool) {
    guard isError else { return say(lines: text) }
    writeError(text + "\n")
  }

  /// Prints a line about an error.
  ///
  /// It may contain text of a server or another user, and stays one line.
  static func complain(_ line: String) {
    drawError(TerminalText.line("tidemark: \(line)"))
  }

  /// By default, a report to a closed pipe would end the program.
  private static let ignorePipeSignal: Void = { _ = signal(SIGPIPE, SIG_IGN) }()

  /// Prints a line of diagnostics in one write; if nothing reads it, the program continues.
  static func report(_ line: [UInt8]) {
    ignorePipeSignal
    writeError(line)
  }

  /// Writes to standard error, in one write if the system accepts it; drops the text if nothing
  /// reads it.
  static func writeError(_ text: String) { writeError(Array(text.utf8)) }

  /// Logs and mails are eventually shown on a terminal, so the output is always made harmless; none
  /// of its colours is ours.
  private static func writeError(_ bytes: [UInt8]) {
    drawError(bytes.withUnsafeBytes { TerminalText.harmless($0, keepsColours: false) })
  }

  /// Writes our own control sequences to a terminal.
  static func drawError(_ bytes: [UInt8]) {
    bytes.withUnsafeBytes { bytes in
      var rest = bytes
      while !rest.isEmpty {
        let count = Foundation.write(STDERR_FILENO, rest.baseAddress, rest.count)
        if count < 0 && errno == EINTR { continue }
        guard count > 0 else { return }
        rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(count))
      }
    }
  }

  /// Prints a line about progress, on a terminal only.
  static func remark(_ line: String) {
    if errorIsTerminal { writeError(line + "\n") }
  }

  /// Asks a yes-or-no question on a terminal.
  ///
  /// - Throws: ``Failure`` without a terminal.
  ///
  /// - Parameters:
  ///   - verb: the action, in lower case: `delete`.
  ///   - what: its object, such as `3 sessions`.
  static func mayProceed(_ verb: String, _ what: String) throws -> Bool {
    guard errorIsTerminal, isatty(STDIN_FILENO) == 1 else {
      throw Failure(.usage, "would \(verb) \(what); pass --yes to confirm (not a terminal)")
    }
    writeError("\(verb.prefix(1).uppercased())\(verb.dropFirst()) \(what)? [y/N] ")
    return ["y", "yes"].contains(readLine()?.lowercased())
  }

  enum Colour: String, CaseIterable, Codable {
    case red = "31"
    case green = "32"
    case yellow = "33"
    case grey = "90"
    case bold = "1"
    /// A match of a search.
    case mark = "1;31"
  }

  /// The sequences that ``paint(_:_:)`` writes, without their escape character.
  static let colourSequences: [[Unicode.Scalar]] =
    (Colour.allCases.map { "[\($0.rawValue)m" } + ["[0m"]).map { Array($0.unicodeScalars) }

  /// Colours text on a terminal.
  static func paint(_ text: String, _ colour: Colour?) -> String {
    guard hasColour, let colour, !text.isEmpty else { return text }
    return coloured(text, colour)
  }

  /// Text in a colour; colours in it become visible.
  static func coloured(_ text: String, _ colour: Colour) -> String {
    "\u{1b}[\(colour.rawValue)m\(text.replacing("\u{1b}", with: "␛"))\u{1b}[0m"
  }

  static func colour(of level: Level?) -> Colour? {
    switch level {
    case .fault, .error: .red
    case .warning: .yellow
    case .success: .green
    case .trace, .debug: .grey
    case .info, nil: nil
    }
  }

  /// One JSON object on one line.
  static func json(_ value: some Encodable) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(value), as: UTF8.self)
  }
}

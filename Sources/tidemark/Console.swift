import Foundation
import LogRecords
import Platform

/// What is printed: results on standard output, everything else on standard error.
enum Console {
  static let outputIsTerminal = isatty(STDOUT_FILENO) == 1
  static let errorIsTerminal = isatty(STDERR_FILENO) == 1
  /// Columns of the terminal that results go to; nil where they go elsewhere and nothing is cut.
  static var width: Int? {
    guard outputIsTerminal else { return nil }
    var size = winsize()
    if ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 {
      return Int(size.ws_col)
    }
    return environment["COLUMNS"].flatMap(Int.init).flatMap { $0 > 0 ? $0 : nil } ?? 80
  }

  /// Prints a table, fitted to the terminal; what is left out for it is said on standard error.
  static func show(_ table: Table) {
    let rendering = table.render(width: width, paint: paint)
    for line in rendering.lines { say(line) }
    if !rendering.omitted.isEmpty {
      remark(
        "no room for \(rendering.omitted.joined(separator: ", ")): widen the terminal, or choose "
          + "with --columns")
    }
  }

  private static let environment = ProcessInfo.processInfo.environment
  /// What `--color` says; nil where it leaves that to terminal and environment.
  static let forcedColour = Guarded<Bool?>(nil)
  /// Whether results are coloured.
  static var hasColour: Bool { forcedColour.withLock { $0 } ?? usuallyHasColour }
  private static let usuallyHasColour =
    outputIsTerminal && (environment["NO_COLOR"] ?? "").isEmpty && environment["TERM"] != "dumb"

  /// The path of this very program.
  static var ownPath: String { Bundle.main.executablePath ?? CommandLine.arguments[0] }

  /// Prints a line of the result.
  static func say(_ line: String = "") { write(Array((line + "\n").utf8)) }

  /// Prints bytes of the result.
  static func write(_ bytes: [UInt8]) { bytes.withUnsafeBytes(write) }

  /// Prints bytes of a log.
  static func show(_ bytes: UnsafeRawBufferPointer) { write(bytes) }

  /// Prints a line of a log: as it is, but to a terminal harmless and in its level's colour.
  static func show(_ line: RecordLine) {
    guard outputIsTerminal else { return write(line.bytes) }
    let text = paint(String(printable: line.text), colour(of: line.head?.level))
    write(Array((line.bytes.last == 0x0a ? text + "\n" : text).utf8))
  }

  /// Prints bytes of the result: as they are, but to a terminal in a form that does nothing there.
  static func write(_ bytes: UnsafeRawBufferPointer) {
    guard outputIsTerminal else { return draw(bytes) }
    TerminalText.harmless(bytes).withUnsafeBytes(draw)
  }

  /// Writes bytes that are meant for a terminal as they are; a reader that has gone ends the program,
  /// as it ends others.
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

  /// Prints what the parser has to say: help as a result, an error as such.
  static func answer(_ text: String, isError: Bool) {
    guard isError else { return say(text) }
    writeError(text + "\n")
  }

  /// Prints a line about what went wrong.
  ///
  /// What is in it may be a server's or another user's text: it stays one line.
  static func complain(_ line: String) {
    writeError("tidemark: \(line.replacing("\n", with: " "))\n")
  }

  /// By default a report whose reader has gone would end the program.
  private static let ignorePipeSignal: Void = { _ = signal(SIGPIPE, SIG_IGN) }()

  /// Prints a line of diagnostics in one piece; where nobody reads, the work goes on.
  static func report(_ line: [UInt8]) {
    ignorePipeSignal
    writeError(line)
  }

  /// Writes to standard error, in one piece where the system takes it; what nobody reads is dropped.
  static func writeError(_ text: String) { writeError(Array(text.utf8)) }

  /// Logs and mails end at a terminal, too: what is written is harmless wherever it goes.
  private static func writeError(_ bytes: [UInt8]) {
    drawError(bytes.withUnsafeBytes(TerminalText.harmless))
  }

  /// Writes bytes of ours that move the cursor of a terminal.
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

  /// Prints a line about what goes on, at a terminal only.
  static func remark(_ line: String) {
    if errorIsTerminal { writeError(line + "\n") }
  }

  /// Asks a yes-or-no question at a terminal.
  ///
  /// - Throws: ``Failure`` where there is none.
  static func mayProceed(_ question: String) throws -> Bool {
    guard errorIsTerminal, isatty(STDIN_FILENO) == 1 else {
      throw Failure(.usage, "not a terminal: pass --yes to confirm. \(question)")
    }
    writeError("\(question) [y/N] ")
    return ["y", "yes"].contains(readLine()?.lowercased())
  }

  enum Colour: String, CaseIterable {
    case red = "31"
    case green = "32"
    case yellow = "33"
    case grey = "90"
    case bold = "1"
    /// What was looked for.
    case mark = "1;31"
  }

  /// What follows the escape character where ``paint(_:_:)`` colours.
  static let colourSequences: [[Unicode.Scalar]] =
    (Colour.allCases.map { "[\($0.rawValue)m" } + ["[0m"]).map { Array($0.unicodeScalars) }

  /// Colours a text at a terminal.
  static func paint(_ text: String, _ colour: Colour?) -> String {
    guard hasColour, let colour, !text.isEmpty else { return text }
    return "\u{1b}[\(colour.rawValue)m\(text)\u{1b}[0m"
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

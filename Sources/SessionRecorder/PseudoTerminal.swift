import CTerminal
import Platform

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The program's own terminal, between it and ours.
struct PseudoTerminal: ~Copyable {
  /// Our end: the program reads what is written here, and vice versa.
  ///
  /// Non-blocking.
  let controller: Int32
  /// The program's end; -1 once this process has closed it.
  private(set) var programEnd: Int32

  /// Opens a terminal with the modes and the size of ours, if we have one.
  ///
  /// - Throws: ``SystemError`` if the system has no more of them.
  init(like terminal: borrowing OuterTerminal) throws {
    var ends: (controller: Int32, program: Int32) = (-1, -1)
    let error = cterminal_open(&ends.controller, &ends.program, terminal.descriptor)
    guard error == 0 else {
      throw SystemError(operation: "open", path: "a pseudo-terminal", errno: error)
    }
    (controller, programEnd) = ends
    _ = fcntl(controller, F_SETFL, O_RDWR | O_NONBLOCK)
  }

  deinit {
    close(controller)
    if programEnd >= 0 { close(programEnd) }
  }

  /// Closes the program's end in this process.
  mutating func closeProgramEnd() {
    close(programEnd)
    programEnd = -1
  }

  /// Gives the terminal the size of ours; the system notifies the program.
  borrowing func resize(like terminal: borrowing OuterTerminal) {
    cterminal_copy_size(terminal.descriptor, controller)
  }

  /// The end-of-input character for a program that reads lines, from its terminal's settings.
  ///
  /// Twice after an unfinished line, because the first only delivers that line.
  borrowing func endOfInput(afterNewline: Bool) -> [UInt8] {
    var modes = termios()
    guard tcgetattr(controller, &modes) == 0 else { return [] }
    let end = withUnsafeBytes(of: modes.c_cc) { $0[Int(VEOF)] }
    return afterNewline ? [end] : [end, end]
  }
}

/// The terminal that we were started on, if any: in raw mode while the program's own is in front of
/// it.
struct OuterTerminal: ~Copyable {
  /// Standard input if it is a terminal, else any of our streams that is one; -1 if none is.
  let descriptor: Int32
  /// Standard input's modes at the start; nil if it is not a terminal.
  private let modes: termios?
  private var isRaw = false

  init() {
    var modes = termios()
    self.modes = tcgetattr(STDIN_FILENO, &modes) == 0 ? modes : nil
    descriptor = [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO].first { isatty($0) == 1 } ?? -1
  }

  deinit { restore() }

  /// Its size in characters, or the default for terminals without one.
  var size: (columns: Int, rows: Int) {
    var (columns, rows): (UInt16, UInt16) = (80, 24)
    _ = cterminal_size(descriptor, &columns, &rows)
    return (Int(columns), Int(rows))
  }

  /// Sets raw mode; does nothing while another job has the terminal.
  mutating func makeRaw() {
    guard var raw = modes, tcgetpgrp(STDIN_FILENO) == getpgrp() else { return }
    cfmakeraw(&raw)
    isRaw = tcsetattr(STDIN_FILENO, TCSADRAIN, &raw) == 0
  }

  /// Restores its original modes.
  borrowing func restore() {
    guard isRaw, var modes else { return }
    _ = tcsetattr(STDIN_FILENO, TCSADRAIN, &modes)
  }
}

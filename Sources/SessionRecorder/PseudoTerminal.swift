import CTerminal
import Platform

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A terminal of the program's own, between it and ours.
struct PseudoTerminal: ~Copyable {
  /// Our end: what is written here the program reads, and the other way round.
  ///
  /// Does not block.
  let controller: Int32
  /// The program's end; -1 once it is closed here.
  private(set) var programEnd: Int32

  /// Opens one with the modes and the size of ours, where we have one.
  ///
  /// - Throws: ``SystemError`` when the system has no more of them.
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

  /// Leaves the program's end to the program.
  mutating func closeProgramEnd() {
    close(programEnd)
    programEnd = -1
  }

  /// Gives the terminal the size of ours; the system tells the program.
  borrowing func resize(like terminal: borrowing OuterTerminal) {
    cterminal_copy_size(terminal.descriptor, controller)
  }

  /// What ends the input of a program that reads lines, as its terminal has it.
  ///
  /// Twice after an unfinished line, which the first one only hands over.
  borrowing func endOfInput(afterNewline: Bool) -> [UInt8] {
    var modes = termios()
    guard tcgetattr(controller, &modes) == 0 else { return [] }
    let end = withUnsafeBytes(of: modes.c_cc) { $0[Int(VEOF)] }
    return afterNewline ? [end] : [end, end]
  }
}

/// The terminal that we were started on, if any: raw while the program's own stands before it.
struct OuterTerminal: ~Copyable {
  /// Standard input where that is a terminal, else whichever of our streams is one; -1 without any.
  let descriptor: Int32
  /// Standard input's modes when we were started; nil where it is no terminal.
  private let modes: termios?
  private var isRaw = false

  init() {
    var modes = termios()
    self.modes = tcgetattr(STDIN_FILENO, &modes) == 0 ? modes : nil
    descriptor = [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO].first { isatty($0) == 1 } ?? -1
  }

  deinit { restore() }

  /// Its size in characters, or what terminals without one are taken to have.
  var size: (columns: Int, rows: Int) {
    var (columns, rows): (UInt16, UInt16) = (80, 24)
    _ = cterminal_size(descriptor, &columns, &rows)
    return (Int(columns), Int(rows))
  }

  /// Passes keys on as they are; left alone while another job has the terminal.
  mutating func makeRaw() {
    guard var raw = modes, tcgetpgrp(STDIN_FILENO) == getpgrp() else { return }
    cfmakeraw(&raw)
    isRaw = tcsetattr(STDIN_FILENO, TCSADRAIN, &raw) == 0
  }

  /// Makes it what it was.
  borrowing func restore() {
    guard isRaw, var modes else { return }
    _ = tcsetattr(STDIN_FILENO, TCSADRAIN, &modes)
  }
}

import Platform

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Passes standard input to a program's own terminal.
struct Keyboard {
  private var pending: [UInt8] = []
  private var last = UInt8(ascii: "\n")
  private(set) var isOpen = true

  /// Whether to read more: input that the program does not read yet is left for others.
  var wantsInput: Bool { isOpen && pending.isEmpty }
  var hasOutput: Bool { !pending.isEmpty }

  /// Reads available input.
  mutating func read(for terminal: borrowing PseudoTerminal) {
    var buffer = [UInt8](repeating: 0, count: 4096)
    let count = takeInput(&buffer)
    if count < 0 && (errno == EINTR || errno == EAGAIN) { return }
    guard count > 0 else {
      isOpen = false
      pending = terminal.endOfInput(afterNewline: last == UInt8(ascii: "\n"))
      return
    }
    pending = Array(buffer[..<count])
    last = buffer[count - 1]
  }

  /// Writes as much as the terminal accepts.
  mutating func write(to terminal: borrowing PseudoTerminal) {
    let controller = terminal.controller
    let count = pending.withUnsafeBytes { systemWrite(controller, $0) }
    if count > 0 {
      pending.removeFirst(count)
    } else if count != -Int(EINTR) && count != -Int(EAGAIN) {
      (pending, isOpen) = ([], false)
    }
  }
}

/// The system's `read`, under a name that the method above does not hide.
private func takeInput(_ buffer: inout [UInt8]) -> Int {
  buffer.withUnsafeMutableBytes { read(STDIN_FILENO, $0.baseAddress, $0.count) }
}

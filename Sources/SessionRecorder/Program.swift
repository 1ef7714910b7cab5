import CTerminal
import Platform

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A running program, on pipes or on a terminal of its own.
struct Program: ~Copyable {
  /// A change of its state.
  enum Change {
    case stopped(signal: Int32)
    case continued
    case ended(status: Int32)
  }

  /// Its process id.
  let process: pid_t
  /// Whether it is in our process group, and gets signals of our terminal itself.
  let sharesTerminal: Bool
  /// The descriptor on which its monitor reports changes; -1 for a child of ours.
  private let reports: Int32
  /// The descriptor on which we report changes; -1 for none.
  private let supervisor: Int32

  init(process: pid_t, sharesTerminal: Bool, reports: Int32, supervisor: Int32) {
    self.process = process
    self.sharesTerminal = sharesTerminal
    self.reports = reports
    self.supervisor = supervisor
  }

  deinit { if reports >= 0 { close(reports) } }

  /// Readable when its state has changed; -1 if only SIGCHLD shows that.
  var descriptor: Int32 { reports }

  /// Sends a signal to it, or to its whole job if it has one of its own.
  borrowing func send(_ number: Int32) { kill(sharesTerminal ? process : -process, number) }

  /// The change since the last call; nil if there is none.
  borrowing func change() -> Change? {
    var status: Int32 = 0
    if reports < 0 {
      guard waitpid(process, &status, WNOHANG | WUNTRACED | WCONTINUED) == process else {
        return nil
      }
      let change = Self.change(status)
      // Report the end only after the output.
      if case .ended = change {} else { tell(CTERMINAL_CHANGED, status) }
      return change
    }
    switch Self.message(from: reports) {
    case .message(let message): return Self.change(message.value)
    // The monitor was killed: the program's end is unknown.
    case .end: return .ended(status: SIGHUP)
    case .nothing: return nil
    }
  }

  /// Reports its end to a supervisor.
  borrowing func reportEnd(status: Int32) { tell(CTERMINAL_CHANGED, status) }

  private borrowing func tell(_ kind: Int, _ value: Int32) {
    guard supervisor >= 0 else { return }
    Self.tell(supervisor, kind, value)
  }

  /// Sends a message to a supervisor.
  static func tell(_ supervisor: Int32, _ kind: Int, _ value: Int32) {
    let message = cterminal_message(kind: Int32(kind), value: value)
    // Ignore a supervisor that is gone.
    withUnsafeBytes(of: message) { _ = systemWrite(supervisor, $0) }
  }

  /// The status of wait(2): 0x7f in the low byte means stopped, 0xffff continued.
  private static func change(_ status: Int32) -> Change {
    if status == 0xffff { return .continued }
    if status & 0xff == 0x7f { return .stopped(signal: (status >> 8) & 0xff) }
    return .ended(status: status)
  }

  // MARK: Messages

  /// The result of reading a monitor's messages.
  enum Report {
    case message(cterminal_message)
    case nothing
    case end
  }

  /// The next message of a monitor.
  static func message(from reports: Int32) -> Report {
    var message = cterminal_message()
    while true {
      let count = withUnsafeMutableBytes(of: &message) { read(reports, $0.baseAddress, $0.count) }
      if count < 0 && errno == EINTR { continue }
      if count < 0 && errno == EAGAIN { return .nothing }
      return count == MemoryLayout<cterminal_message>.size ? .message(message) : .end
    }
  }
}

import CTerminal
import Platform

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A program that runs, on pipes or on a terminal of its own.
struct Program: ~Copyable {
  /// What has become of it.
  enum Change {
    case stopped(signal: Int32)
    case continued
    case ended(status: Int32)
  }

  /// Its process id.
  let process: pid_t
  /// Whether it is of our process group, and hears from our terminal itself.
  let sharesTerminal: Bool
  /// Where its monitor tells what becomes of it; -1 for a child of ours.
  private let reports: Int32
  /// Where we tell it; -1 for nobody.
  private let supervisor: Int32

  init(process: pid_t, sharesTerminal: Bool, reports: Int32, supervisor: Int32) {
    self.process = process
    self.sharesTerminal = sharesTerminal
    self.reports = reports
    self.supervisor = supervisor
  }

  deinit { if reports >= 0 { close(reports) } }

  /// Readable when something has become of it; -1 where only SIGCHLD tells.
  var descriptor: Int32 { reports }

  /// Sends it a signal; to its whole job where it has one of its own.
  borrowing func send(_ number: Int32) { kill(sharesTerminal ? process : -process, number) }

  /// What has become of it since the last time; nil when nothing has.
  borrowing func change() -> Change? {
    var status: Int32 = 0
    if reports < 0 {
      guard waitpid(process, &status, WNOHANG | WUNTRACED | WCONTINUED) == process else {
        return nil
      }
      let change = Self.change(status)
      // The end is told when the output has been, too.
      if case .ended = change {} else { tell(CTERMINAL_CHANGED, status) }
      return change
    }
    switch Self.message(from: reports) {
    case .message(let message): return Self.change(message.value)
    // The monitor was killed: what becomes of the program is not known any more.
    case .end: return .ended(status: SIGHUP)
    case .nothing: return nil
    }
  }

  /// Tells whoever supervises it that it has ended.
  borrowing func tellEnd(status: Int32) { tell(CTERMINAL_CHANGED, status) }

  private borrowing func tell(_ kind: Int, _ value: Int32) {
    guard supervisor >= 0 else { return }
    Self.tell(supervisor, kind, value)
  }

  /// Tells a supervisor.
  static func tell(_ supervisor: Int32, _ kind: Int, _ value: Int32) {
    let message = cterminal_message(kind: Int32(kind), value: value)
    // A supervisor that has gone does not want to know.
    withUnsafeBytes(of: message) { _ = systemWrite(supervisor, $0) }
  }

  /// wait(2)'s status: 0x7f in the low byte is a stop, 0xffff says that it goes on.
  private static func change(_ status: Int32) -> Change {
    if status == 0xffff { return .continued }
    if status & 0xff == 0x7f { return .stopped(signal: (status >> 8) & 0xff) }
    return .ended(status: status)
  }

  // MARK: Messages

  /// What can be read of a monitor's messages.
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

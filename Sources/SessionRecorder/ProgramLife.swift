import LogRecords
import Platform
import SessionLog

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A program from its start to the end of its output.
struct ProgramLife: ~Copyable {
  /// How long to wait for output after the program has ended: a process that it started may keep the
  /// pipe open for ever.
  private static let drainTime = Duration.seconds(1)

  let program: Program
  private(set) var isStoppedByTerminal = false
  private var isStopped = false
  private var ended: (status: Int32, at: Duration)?
  private let uptime: @Sendable () -> Duration
  private let memory: MemoryEvents?
  private let kills: Int?

  /// Takes over a program that has just started on a machine.
  init(_ program: consuming Program, on machine: Machine) {
    self.program = program
    (uptime, memory) = (machine.uptime, machine.memoryEvents)
    kills = memory?.kills
  }

  var continues: Bool { ended == nil }

  /// The time to wait; nil if it ended long enough ago.
  func wait(upTo limit: Duration) -> Duration? {
    guard let ended else { return limit }
    let rest = Self.drainTime - (uptime() - ended.at)
    return rest > .zero ? min(limit, rest) : nil
  }

  /// The next event for the session; nil if there is none.
  mutating func next() -> SessionEvent? {
    guard ended == nil, let change = program.change() else { return nil }
    let wasStopped = isStopped
    (isStopped, isStoppedByTerminal) = (false, false)
    switch change {
    case .stopped(let number):
      isStopped = true
      isStoppedByTerminal = [SIGTSTP, SIGTTIN, SIGTTOU].contains(number)
      return .background("stopped by \(ExitCause.name(ofSignal: number))")
    case .continued: return .foreground("continued")
    case .ended(let status):
      ended = (status, uptime())
      // The system reports only the last change; but a stopped program does not exit before
      // continuing.
      return wasStopped && status & 0x7f == 0 ? .foreground("continued") : nil
    }
  }

  /// Reports its end to a supervisor.
  func reportEnd() {
    if let ended { program.reportEnd(status: ended.status) }
  }

  /// The status of wait(2): the low seven bits are the signal, the eighth means that there is a
  /// core file, the next byte is the exit status.
  var ending: Capture.Ending {
    let status = ended?.status ?? 0
    let number = status & 0x7f
    guard number != 0 else { return Capture.Ending(cause: .exit((status >> 8) & 0xff)) }
    let isOutOfMemory =
      number == SIGKILL && (memory?.kills).map { $0 > kills ?? $0 } ?? false
    return Capture.Ending(
      cause: isOutOfMemory ? .outOfMemory : .signal(number),
      core: status & 0x80 == 0
        ? nil : CoreFile().place(of: program.process, in: Self.workingFolder))
  }

  private static var workingFolder: String {
    var buffer = [CChar](repeating: 0, count: 4096)
    guard getcwd(&buffer, buffer.count) != nil else { return "." }
    return String(decoding: buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
  }
}

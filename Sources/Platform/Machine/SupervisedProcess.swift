#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A process whose output is read, up to a limit, and which is killed after a time limit; see
/// ``ChildProcess/isIsolated``.
///
/// A process that is stopped by a signal is continued a few times, and then killed, so that it does
/// not keep others waiting until its time limit. One that does not end although it was killed is
/// given up.
package final class SupervisedProcess {
  /// How a process ended.
  package enum End: Sendable, Equatable {
    /// Exited with a status.
    case exited(Int32)
    /// Killed by a signal.
    case killed(Int32)
    /// Killed by us at its time limit.
    case overdue
    /// Killed by us because it was stopped again and again.
    case stopped
    /// Killed by us, but it goes on waiting for the kernel, as in a file system that does not answer.
    case stuck
  }

  /// The output of a process on one of its descriptors.
  package struct Output: Sendable {
    /// The descriptor.
    package let its: Int32
    /// Maximum number of bytes kept; the rest is read and dropped.
    package let limit: Int
    /// The bytes kept.
    package fileprivate(set) var bytes: [UInt8] = []
    /// Whether anything was dropped.
    package fileprivate(set) var isCut = false
    fileprivate var reading: Int32 = -1

    /// Describes an output to read.
    package init(_ its: Int32, limit: Int) { (self.its, self.limit) = (its, limit) }
  }

  /// Its output so far.
  package private(set) var outputs: [Output]
  /// How it ended; nil while it runs.
  package private(set) var end: End?
  private let process: pid_t
  private let deadline: Duration
  private let patience: Duration
  /// How often it was stopped.
  private var stops = 0
  private let machine: Machine

  /// Starts a process.
  ///
  /// - Parameters:
  ///   - child: the process; the descriptors of `outputs` are added to its own.
  ///   - outputs: the descriptors to read.
  ///   - time: its time limit.
  ///   - patience: how long to wait for its end after killing it.
  /// - Throws: ``SystemError``.
  package init(
    _ child: ChildProcess, reading outputs: [Output], for time: Duration,
    patience: Duration = .seconds(5), on machine: Machine
  ) throws(SystemError) {
    Self.forgetEnded()
    self.machine = machine
    self.patience = patience
    deadline = machine.uptime() + time
    var child = child
    child.isIsolated = true
    var writing: [Int32] = []
    defer { for number in writing { close(number) } }
    var opened: [Output] = []
    for var output in outputs {
      let ends: PipeEnds
      do {
        ends = try PipeEnds()
      } catch {
        for output in opened { close(output.reading) }
        throw error
      }
      _ = fcntl(ends.read, F_SETFL, O_NONBLOCK)
      output.reading = ends.read
      writing.append(ends.write)
      opened.append(output)
      child.descriptors.append((ends.write, output.its))
    }
    let started = child.start()
    self.outputs = opened
    process = started
    guard started > 0 else {
      throw SystemError(operation: "start", path: "a process", errno: -started)
    }
  }

  deinit {
    for output in outputs where output.reading >= 0 { close(output.reading) }
  }

  /// Time between checks of silent processes, in milliseconds.
  private static let interval: Int32 = 200
  /// How often it may be stopped: a person at a terminal does that, too.
  private static let mostStops = 8

  /// Runs several processes, a few at a time.
  ///
  /// Blocks until the last has ended.
  ///
  /// - Parameters:
  ///   - most: maximum number at a time.
  ///   - start: starts the next process and returns it with its purpose; nil for none at present.
  ///   - ended: called with each ended process and its purpose.
  /// - Throws: errors of `start`, once the running processes have ended; errors of `ended`.
  package static func run<Purpose>(
    atOnce most: Int, start: () throws -> (Purpose, SupervisedProcess)?,
    ended: (Purpose, SupervisedProcess) throws -> Void
  ) throws {
    var running: [(purpose: Purpose, process: SupervisedProcess)] = []
    var failure: (any Error)?
    while true {
      do {
        while failure == nil, running.count < most, let started = try start() {
          running.append(started)
        }
      } catch {
        failure = error
      }
      guard !running.isEmpty else { break }
      wait(for: running.map(\.process))
      for (purpose, process) in running where process.end != nil { try ended(purpose, process) }
      running.removeAll { $0.process.end != nil }
    }
    if let failure { throw failure }
  }

  private static func wait(for processes: [SupervisedProcess]) {
    guard !processes.isEmpty else { return }
    var polled = processes.flatMap { process in
      process.outputs.filter { $0.reading >= 0 }.map {
        pollfd(fd: $0.reading, events: Int16(POLLIN), revents: 0)
      }
    }
    _ = poll(&polled, nfds_t(polled.count), interval)
    for process in processes { process.checkState() }
  }

  /// Reads available output, and checks whether the process has ended.
  private func checkState() {
    if machine.uptime() >= deadline, end == nil { end(as: .overdue) }
    if end == nil {
      var status: Int32 = 0
      let found = waitpid(process, &status, WNOHANG | WUNTRACED)
      if found == process, status & 0xff == 0x7f {
        stops += 1
        if stops > Self.mostStops { end(as: .stopped) } else { kill(process, SIGCONT) }
      } else if found == process {
        end = status & 0x7f == 0 ? .exited((status >> 8) & 0xff) : .killed(status & 0x7f)
      } else if found < 0, errno != EINTR {
        end = .exited(-1)
      }
    }
    // Check before reading: everything it wrote before its end is then in the pipe.
    for index in outputs.indices { read(index) }
  }

  private func end(as end: End) {
    self.end = end
    // Without permission to kill it, rely on its own alarm.
    guard kill(process, SIGKILL) == 0 else { return }
    let limit = machine.uptime() + patience
    while !Self.hasEnded(process) {
      guard machine.uptime() < limit else {
        self.end = .stuck
        let number = process
        Self.stuck.withLock { $0.append(number) }
        return
      }
      _ = poll(nil, 0, Self.pause)
    }
  }

  /// Time between checks of a killed process, in milliseconds.
  private static let pause: Int32 = 10
  /// Killed processes that had not ended when they were given up.
  private static let stuck = Guarded<[pid_t]>([])

  /// Releases what the kernel keeps of those that have ended since.
  private static func forgetEnded() { stuck.withLock { $0.removeAll { hasEnded($0) } } }

  /// Whether a killed process has ended; never blocks.
  private static func hasEnded(_ process: pid_t) -> Bool {
    var status: Int32 = 0
    let found = waitpid(process, &status, WNOHANG)
    return found == process || found < 0 && errno != EINTR
  }

  /// Bytes that are read of an output before others get their turn: as many as a pipe holds that a
  /// user has enlarged, so that all that a process wrote before its end is among them.
  private static let mostAtOnce = 1 << 20

  private func read(_ index: Int) {
    guard outputs[index].reading >= 0 else { return }
    var buffer = [UInt8](repeating: 0, count: 64 << 10)
    var total = 0
    // Somebody else may have the pipe's other end, and fill it as fast as it is read.
    while total < Self.mostAtOnce {
      let count = systemResult(
        buffer.withUnsafeMutableBytes {
          readFile(outputs[index].reading, $0)
        })
      if count == -Int(EINTR) { continue }
      guard count > 0 else {
        if count == 0 {
          close(outputs[index].reading)
          outputs[index].reading = -1
        }
        return
      }
      total += count
      let room = outputs[index].limit - outputs[index].bytes.count
      if count > room { outputs[index].isCut = true }
      outputs[index].bytes += buffer[..<min(count, room)]
    }
  }
}

// The system's function, under a name that the method above does not hide.

private func readFile(_ file: Int32, _ buffer: UnsafeMutableRawBufferPointer) -> Int {
  read(file, buffer.baseAddress, buffer.count)
}

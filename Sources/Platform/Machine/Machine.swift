import Foundation

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The machine and process in which code runs: clocks, identity and randomness.
///
/// Everything below the command line receives one as an argument, so that a test or a simulation
/// can run the same code on a machine of its own. ``current`` is the real one.
///
/// File operations and parallelism are not part of it: they follow the task, see ``FileEffects``
/// and ``Parallelism``.
public struct Machine: Sendable {
  /// The wall clock.
  package var now: @Sendable () -> Timestamp
  /// Time since this boot, sleep included: the clock for intervals.
  package var uptime: @Sendable () -> Duration
  /// The id of this boot.
  package var bootId: String
  /// Hash of the machine's id; nil if it has none.
  package var machineId: String?
  /// The namespace of process ids.
  package var pidNamespace: String
  /// The id of this process.
  package var processId: Int32
  /// Start time of a process in clock ticks since boot; nil if it does not exist.
  package var processStart: @Sendable (_ pid: Int32) -> UInt64?
  /// Where the kernel counts out-of-memory kills; nil if it does not.
  package var memoryEvents: MemoryEvents?
  /// Name, model and operating system.
  package var host: @Sendable () -> Host
  /// 64 random bits.
  package var random: @Sendable () -> UInt64

  /// A random number from 0 up to 1.
  package var fraction: @Sendable () -> Double {
    { [random] in Double(random() >> 11) / Double(1 << 53) }
  }

  /// Describes a machine.
  package init(
    now: @escaping @Sendable () -> Timestamp, uptime: @escaping @Sendable () -> Duration,
    bootId: String, machineId: String?, pidNamespace: String, processId: Int32,
    processStart: @escaping @Sendable (_ pid: Int32) -> UInt64?, memoryEvents: MemoryEvents?,
    host: @escaping @Sendable () -> Host, random: @escaping @Sendable () -> UInt64
  ) {
    (self.now, self.uptime) = (now, uptime)
    (self.bootId, self.machineId, self.pidNamespace) = (bootId, machineId, pidNamespace)
    (self.processId, self.processStart, self.memoryEvents) = (processId, processStart, memoryEvents)
    (self.host, self.random) = (host, random)
  }

  /// This machine.
  public static let current = Machine(
    now: Timestamp.now, uptime: systemUptime,
    bootId: firstLine("/proc/sys/kernel/random/boot_id") ?? "unknown",
    machineId: firstLine("/etc/machine-id").map(fingerprint),
    pidNamespace: link("/proc/self/ns/pid") ?? "unknown", processId: getpid(),
    processStart: startOfProcess, memoryEvents: .ofThisProcess(), host: { .current },
    random: { .random(in: .min ... .max) })

  /// The id of the process running now: differs from ``processId`` after a `fork`.
  package static var processIdNow: Int32 { getpid() }

  @Sendable private static func systemUptime() -> Duration {
    #if canImport(Darwin)
      let clock = CLOCK_MONOTONIC_RAW
    #else
      let clock = CLOCK_BOOTTIME
    #endif
    var time = timespec()
    clock_gettime(clock, &time)
    return .milliseconds(Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
  }

  @Sendable private static func startOfProcess(_ pid: Int32) -> UInt64? {
    guard let text = firstLine("/proc/\(pid)/stat"), let paren = text.lastIndex(of: ")") else {
      return nil
    }
    // proc(5): the program's name ends at the last parenthesis; starttime is field 22, and the
    // first field after the name is field 3. A zombie writes nothing any more.
    let fields = text[text.index(after: paren)...].split(separator: " ")
    guard fields.count > 19, fields[0] != "Z", fields[0] != "X" else { return nil }
    return UInt64(fields[19])
  }

  private static func firstLine(_ path: String) -> String? {
    guard let bytes = try? AtomicFile.read(path) else { return nil }
    let line = bytes.prefix { $0 != 0x0a }
    return line.isEmpty ? nil : String(decoding: line, as: UTF8.self)
  }

  private static func link(_ path: String) -> String? {
    var buffer = [CChar](repeating: 0, count: 256)
    let count = readlink(path, &buffer, buffer.count)
    guard count > 0 else { return nil }
    return String(decoding: buffer[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  /// FNV-1a, 64 bits: enough to detect another machine, without revealing its id.
  private static func fingerprint(_ text: String) -> String {
    let hash = text.utf8.reduce(UInt64(0xcbf2_9ce4_8422_2325)) {
      ($0 ^ UInt64($1)) &* 0x100_0000_01b3
    }
    return String(hash, radix: 16)
  }
}

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// What tells whether a recorder that left no end record can still be alive.
public struct MachineEvidence: Sendable {
  /// This boot.
  public let bootId: String
  /// The namespace in which process ids count here.
  public let pidNamespace: String
  /// Hash of the machine's id; nil where it has none.
  public let machineId: String?
  /// When a process started, in clock ticks since boot; nil when it does not exist.
  public let processStart: @Sendable (_ pid: Int32) -> UInt64?
  /// Milliseconds since this boot, sleep included.
  public let uptime: @Sendable () -> Int64

  /// Evidence from elsewhere, for tests.
  public init(
    bootId: String, pidNamespace: String, machineId: String?,
    processStart: @escaping @Sendable (_ pid: Int32) -> UInt64?,
    uptime: @escaping @Sendable () -> Int64 = Self.uptime
  ) {
    self.bootId = bootId
    self.pidNamespace = pidNamespace
    self.machineId = machineId
    self.processStart = processStart
    self.uptime = uptime
  }

  /// Milliseconds since the system's boot, sleep included.
  @Sendable public static func uptime() -> Int64 {
    #if canImport(Darwin)
      let clock = CLOCK_MONOTONIC_RAW
    #else
      let clock = CLOCK_BOOTTIME
    #endif
    var time = timespec()
    clock_gettime(clock, &time)
    return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
  }

  /// This machine's.
  public static func current() -> MachineEvidence {
    MachineEvidence(
      bootId: firstLine("/proc/sys/kernel/random/boot_id") ?? "unknown",
      pidNamespace: link("/proc/self/ns/pid") ?? "unknown",
      machineId: firstLine("/etc/machine-id").map(fingerprint), processStart: startOfProcess)
  }

  private static func startOfProcess(_ pid: Int32) -> UInt64? {
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

  /// FNV-1a, 64 bits: enough to notice another machine, and no way back to its id.
  private static func fingerprint(_ text: String) -> String {
    let hash = text.utf8.reduce(UInt64(0xcbf2_9ce4_8422_2325)) {
      ($0 ^ UInt64($1)) &* 0x100_0000_01b3
    }
    return String(hash, radix: 16)
  }
}

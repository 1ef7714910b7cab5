import Foundation
import LogRecords
import Platform
import SessionLog
import TestSupport
import Testing

/// Programs whose home fails: they keep running, and lost records are reported.
@Suite(.tags(.medium)) struct BadDaysTests {
  private let folder: TestHome

  init() throws { folder = try TestHome() }

  /// Runs a bash script as root, with an empty file system at `/mnt` in its own mount namespace.
  ///
  /// `probe ARGUMENT…` is the probe with a home at `/mnt/home`; `as_user` before it takes root's
  /// rights away.
  private func shell(_ script: String) async throws -> Command.Result {
    let preamble = """
      set -eu
      umask 022
      mount -t tmpfs -o mode=755 tidemark-test /mnt
      # The build and its libraries may lie where only their owner can go.
      cp "\(BuiltPrograms.folder)/LoggingProbe" /mnt/probe
      mkdir /mnt/lib /mnt/home
      cp $(ldd /mnt/probe | awk '/swift/ && $3 ~ /^\\// { print $3 }') /mnt/lib/
      chmod -R a+rX /mnt
      export LD_LIBRARY_PATH=/mnt/lib TIDEMARK_HOME=/mnt/home SWIFT_BACKTRACE=enable=no
      as_user() { setpriv --reuid=daemon --regid=daemon --init-groups "$@"; }
      """
    // A user namespace provides root's rights, if the system allows it.
    let namespace =
      getuid() == 0 ? ["--mount"] : ["--user", "--map-root-user", "--map-auto", "--mount"]
    return try await Command(
      ["/usr/bin/unshare"] + namespace + ["bash", "-c", preamble + "\n" + script],
      environment: [
        "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
        "LD_LIBRARY_PATH": ProcessInfo.processInfo.environment["LD_LIBRARY_PATH"] ?? "",
      ]
    ).run()
  }

  /// A home of another user, one on a read-only file system, and one without permissions: the
  /// program's records appear on the console.
  @Test
  func `a program whose home cannot be written logs to the console and continues`() async throws {
    let result = try await shell(
      """
      as_user /mnt/probe exit --console || echo "others $?"
      mkdir /mnt/own
      chown daemon:daemon /mnt/own
      as_user env TIDEMARK_HOME=/mnt/own /mnt/probe
      find /mnt/own -type d -exec chmod 555 {} +
      as_user env TIDEMARK_HOME=/mnt/own /mnt/probe exit --console || echo "closed $?"
      mount --bind /mnt/home /mnt/home
      mount -o remount,ro,bind /mnt/home
      /mnt/probe exit --console || echo "read only $?"
      TIDEMARK_HOME=/mnt/home/new/home /mnt/probe segv --console || echo "crash $?"
      find /mnt/home -mindepth 1
      find /mnt/own -name '*.log' | wc -l
      """)
    #expect(result.status == 0, "\(result.errors)")
    #expect(
      result.text.split(separator: "\n").filter { !$0.hasPrefix("printed") } == [
        "others 3", "closed 3", "read only 3", "crash 139", "1",
      ], "\(result.text)\(result.errors)")
    let told = result.errors.split(separator: "\n").filter {
      $0.hasPrefix("probe: this session is not recorded: ") && $0.contains("/mnt/")
    }
    #expect(told.count == 4, "\(result.errors)")
    #expect(result.errors.matches(of: /\[INFO\] \[Probe\] before\n/).count == 4)
  }

  /// The disk fills up in the middle of a session: the program keeps running, and its log lacks
  /// only the records that its GAP record counts.
  @Test
  func `a program continues when the disk is full, and a GAP record counts the loss`() async throws
  {
    let result = try await shell(
      """
      mount -t tmpfs -o size=1m tidemark-test /mnt/home
      /mnt/probe flood
      find /mnt/home -name '*.log' -exec cat {} +
      """)
    #expect(result.status == 0 && result.errors.isEmpty, "\(result.errors)")
    let lines = result.text.split(separator: "\n")
    #expect(
      lines.allSatisfy { Array($0.utf8).withUnsafeBytes(RecordPrefix.parse) != nil },
      "\(result.text.suffix(400))")
    let numbers = result.text.matches(of: /record ([0-9]+) of more/).compactMap { Int($0.1) }
    #expect(numbers.count > 5_000 && numbers.count < 30_000 && numbers == Array(0..<numbers.count))
    let gap = try #require(
      result.text.firstMatch(of: /\[GAP ([0-9]+) bytes: disk full\]\n/),
      "\(result.text.suffix(400))")
    // The lengths of the missing records, and of the one after them.
    let length = try #require(lines.first { $0.contains("record 10000 of") }).utf8.count + 1
    let missing = (numbers.count..<30_000).reduce(0) { $0 + length - ($1 < 10_000 ? 1 : 0) }
    let after = "2026-01-22T14:30:05.123Z [INFO] [Probe] after\n".utf8.count
    #expect([missing, missing + after].contains(Int(gap.1)), "\(result.text.suffix(400))")
    #expect(result.text.hasSuffix("[INFO] [Session] SESSION END exit 0\n"))
  }

  /// Writing a record to a console whose reader has gone does not end the program.
  @Test func `a console whose reader has gone does not end the program`() async throws {
    for capture in ["", "--capture"] {
      let script = """
        exec 3> >(true)
        wait $!
        exec "\(BuiltPrograms.folder)/LoggingProbe" exit --console \(capture) 2>&3
        """
      let result = try await Command(
        ["/bin/bash", "-c", script],
        environment: [
          "PATH": "/usr/bin:/bin", "TIDEMARK_HOME": folder.home.path,
          "LD_LIBRARY_PATH": ProcessInfo.processInfo.environment["LD_LIBRARY_PATH"] ?? "",
        ]
      ).run()
      #expect(result.status == 3)
    }
    let home = folder.home
    for session in try home.sessions() {
      #expect(try Sidecar.load(home.files(for: session).sidecar).cause == .exit(3))
    }
  }

  /// Whichever descriptor is the first that there is none for.
  @Test func `what a program with few descriptors prints reaches its console`() async throws {
    let script = """
      for limit in $(seq 5 24); do
        (ulimit -n $limit; exec timeout 60 "\(BuiltPrograms.folder)/LoggingProbe" chatter --capture) \
          2>/dev/null | wc -l
      done
      """
    let result = try await Command(
      ["/bin/bash", "-c", script],
      environment: [
        "PATH": "/usr/bin:/bin", "TIDEMARK_HOME": folder.home.path,
        "LD_LIBRARY_PATH": ProcessInfo.processInfo.environment["LD_LIBRARY_PATH"] ?? "",
      ]
    ).run()
    #expect(
      result.text.split(separator: "\n").map { Int($0.filter(\.isNumber)) }
        == Array(repeating: 2_000, count: 20),
      "\(result.text)")
  }

  @Test
  func `two processes with eight threads each share a home without losing a record`() async throws {
    let home = folder.home
    @Sendable func run() async throws -> Command.Result {
      try await Command(
        ["\(BuiltPrograms.folder)/LoggingProbe", "threads"],
        environment: [
          "PATH": "/usr/bin:/bin", "TIDEMARK_HOME": home.path,
          "LD_LIBRARY_PATH": ProcessInfo.processInfo.environment["LD_LIBRARY_PATH"] ?? "",
        ]
      ).run()
    }
    async let one = run()
    async let other = run()
    #expect(try await (one.status, other.status) == (0, 0))
    let sessions = try home.sessions()
    #expect(sessions.count == 2)
    for session in sessions {
      let log = try RecordedLog(home.files(for: session))
      let text = String(decoding: try log.read(log.start..<log.end()), as: UTF8.self)
      let records = text.matches(of: /\[Probe\] ([0-7]) ([0-9]+)\n/).map { (Int($0.1), Int($0.2)) }
      for thread in 0..<8 {
        #expect(records.filter { $0.0 == thread }.map(\.1) == (0..<500).map { $0 })
      }
      #expect(text.hasSuffix("SESSION END exit 0\n"))
      let sidecar = try Sidecar.load(home.files(for: session).sidecar)
      #expect(sidecar.status == .terminated && sidecar.levels["INFO"] == 4_004)
    }
  }
}

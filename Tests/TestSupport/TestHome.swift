import Foundation
package import LogRecords
package import Platform
import Replica
package import SessionLog
import Synchronization

/// A clock that moves only by calls of its methods.
package final class TestClock: Sendable {
  private let time: Mutex<Int64>
  private let boot = Mutex<Int64>(1_000_000)

  /// Starts at a time in milliseconds since 1970; by default 2026-01-22T14:30:05.123Z.
  package init(_ milliseconds: Int64 = 1_769_092_205_123) { time = Mutex(milliseconds) }

  /// The time.
  package func now() -> Timestamp { Timestamp(milliseconds: time.withLock { $0 }) }

  /// Milliseconds since the machine's boot.
  package func uptime() -> Int64 { boot.withLock { $0 } }

  /// Advances.
  package func advance(seconds: Int64) {
    set(seconds: seconds)
    boot.withLock { $0 += seconds * 1000 }
  }

  /// Advances by less than a second.
  package func advance(milliseconds: Int64) {
    time.withLock { $0 += milliseconds }
    boot.withLock { $0 += milliseconds }
  }

  /// Sets the clock without advancing time.
  package func set(seconds: Int64) { time.withLock { $0 += seconds * 1000 } }
}

extension TestClock {
  /// This machine with this clock.
  package var machine: Machine {
    var machine = Machine.current
    machine.now = { self.now() }
    machine.uptime = { .milliseconds(self.uptime()) }
    return machine
  }
}

/// A home in a separate folder, removed with this object.
package final class TestHome: Sendable {
  /// The folder, without the home.
  package let folder: String
  /// The home.
  package let home: Home
  /// Its device.
  package let device: Device
  /// Its clock.
  package let clock: TestClock

  /// Makes a home.
  package init(clock: TestClock = TestClock()) throws {
    folder = NSTemporaryDirectory() + "tidemark-" + UUID().uuidString
    home = Home(path: folder + "/home").compressing(with: SegmentCompression())
    self.clock = clock
    try home.create()
    device = try Device.load(home, on: clock.machine)
  }

  deinit { try? FileManager.default.removeItem(atPath: folder) }

  /// A session's writer under the test's clock.
  package func writer(
    app: String = "test", rotateAt: ByteCount = RecordingOptions.defaultRotation,
    format: LogFormat = .lines, standardErrorLevel: Level = .info,
    consent: Consent? = nil, localMax: ByteCount? = nil, patience: Duration = .seconds(60),
    writing: (@Sendable (Int32, UnsafeRawBufferPointer) -> Int)? = nil,
    report: (@Sendable (String) -> Void)? = nil
  ) throws -> SessionWriter {
    var options = RecordingOptions()
    options.fsync = .never
    options.rotateAt = rotateAt
    options.patience = patience
    options.report = report
    options.format = format
    options.standardErrorLevel = standardErrorLevel
    options.consent = consent
    options.localMax = localMax
    return try SessionWriter(
      home: home, device: device, appName: app, options: options, machine: clock.machine,
      writing: writing)
  }

  /// A complete session: captured and ended.
  @discardableResult
  package func session(
    _ text: some Sequence<UInt8>, cause: ExitCause = .exit(0)
  ) throws -> SessionID {
    let writer = try writer()
    Array(text).withUnsafeBytes { writer.capture($0, from: .standardOutput) }
    try writer.end(cause)
    return writer.session
  }

  /// Gives a session a recorder of an earlier boot: it has crashed.
  package func crash(_ session: SessionID) throws {
    let path = home.files(for: session).sidecar
    var sidecar = try Sidecar.load(path)
    sidecar.recorder?.bootId = "another"
    try sidecar.save(path)
  }

  /// Switches a scenario on.
  package func enable(_ scenario: String, until: Timestamp? = nil, by who: String = "anna") throws {
    let now = clock.now()
    guard let name = ScenarioName(scenario) else { return }
    try ControlFile(home).change(on: clock.machine) { states in
      _ = states[name, default: ScenarioState(created: now)].set(true, until: until, by: who)
    }
  }

  /// The local bytes of a session's log, including its rotated parts.
  package func log(_ session: SessionID) throws -> [UInt8] {
    let log = try RecordedLog(home.files(for: session))
    return try log.read(log.start..<log.end())
  }
}

import Foundation
import LogRecords
import Platform
import SessionLog
import TestSupport
import Testing

@Suite(.tags(.medium)) struct VerdictTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let testDescription: String
    var lockGranted = true
    var boot = "boot"
    var namespace = "ns"
    var machine: String? = "machine"
    var recordedOn: String? = "machine"
    var alive = false
    var silentHours: Int64 = 0
    let expected: ExitCause??
  }

  /// The outer nil: no verdict; the inner: a verdict without a cause.
  static let cases: [Case] = [
    .init(testDescription: "a writer holds the lock", lockGranted: false, expected: nil),
    .init(testDescription: "recorder gone", expected: .recorderLost),
    .init(testDescription: "recorder alive", alive: true, expected: nil),
    .init(testDescription: "another boot", boot: "later", expected: .reboot),
    .init(testDescription: "another pid namespace", namespace: "x", expected: nil),
    .init(
      testDescription: "another pid namespace, silent", namespace: "x", silentHours: 25,
      expected: .some(nil)),
    .init(testDescription: "another machine", machine: "x", expected: nil),
    .init(
      testDescription: "no machine id, another boot", boot: "later", machine: nil, recordedOn: nil,
      expected: nil),
    .init(
      testDescription: "no machine id, the same boot", machine: nil, recordedOn: nil,
      expected: .recorderLost),
    .init(
      testDescription: "no machine id, another boot, silent", boot: "later", machine: nil,
      recordedOn: nil, silentHours: 25, expected: .some(nil)),
    .init(
      testDescription: "another machine, silent", machine: "x", silentHours: 25,
      expected: .some(nil)),
  ]

  private func machine(_ test: Case) -> Machine {
    var machine = Machine.current
    machine.bootId = test.boot
    machine.pidNamespace = test.namespace
    machine.machineId = test.machine
    machine.processStart = { _ in test.alive ? 77 : nil }
    return machine
  }

  @Test(arguments: cases)
  func `without an end record, the verdict follows from lock, process and boot`(
    _ test: Case
  ) throws {
    let home = try TestHome()
    let writer = try home.writer()
    var sidecar = try Sidecar.load(writer.files.sidecar)
    sidecar.recorder?.bootId = "boot"
    sidecar.recorder?.pidNamespace = "ns"
    sidecar.recorder?.machineId = test.recordedOn
    sidecar.recorder?.processStart = 77
    let modified = home.clock.now()
    home.clock.advance(seconds: test.silentHours * 3600)
    let verdict = try Verdict.reach(
      sidecar: sidecar, files: writer.files, lockGranted: test.lockGranted,
      machine: machine(test), now: home.clock.now(), logModified: modified)
    switch test.expected {
    case nil: #expect(verdict == nil)
    case .some(let cause):
      #expect(verdict?.status == .crashed)
      #expect(verdict?.cause == cause)
    }
  }

  @Test(arguments: [
    (ExitCause.exit(0), SessionStatus.terminated, false), (.exit(3), .terminated, true),
    (.signal(15), .terminated, false), (.signal(2), .terminated, false),
    (.signal(9), .crashed, true), (.signal(11), .crashed, true), (.reboot, .crashed, true),
    (.outOfMemory, .crashed, true),
  ])
  func `each exit cause gives its status and is found in the log`(
    cause: ExitCause, status: SessionStatus, isFailure: Bool
  ) throws {
    #expect(cause.status == status && cause.isFailure == isFailure)
    #expect(ExitCause(cause.description) == cause)
    let home = try TestHome()
    let session = try home.session([], cause: cause)
    // The recorder died between its end record and its sidecar.
    let files = home.home.files(for: session)
    var sidecar = try Sidecar.load(files.sidecar)
    sidecar.status = .active
    sidecar.cause = nil
    let verdict = try Verdict.reach(
      sidecar: sidecar, files: files, lockGranted: true, machine: .current,
      now: home.clock.now(), logModified: home.clock.now())
    #expect(verdict?.status == status && verdict?.cause == cause)
  }

  @Test func `an end record printed by the program is ignored`() throws {
    let home = try TestHome()
    let writer = try home.writer()
    Array("2026-01-22T14:30:05.123Z [INFO] [Session] SESSION END exit 0\n".utf8).withUnsafeBytes {
      writer.capture($0, from: .standardOutput)
    }
    var sidecar = try Sidecar.load(writer.files.sidecar)
    sidecar.recorder?.processStart = 1
    let verdict = try Verdict.reach(
      sidecar: sidecar, files: writer.files, lockGranted: true, machine: .current,
      now: home.clock.now(), logModified: home.clock.now())
    #expect(verdict?.status == .crashed)
  }
}

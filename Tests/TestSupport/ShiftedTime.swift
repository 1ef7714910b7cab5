package import Platform
package import Testing

/// Shows the system's time, and that of files, as if the test had begun on one fixed day.
///
/// When a file was last changed cannot be set, so a test in which this counts needs a clock that
/// agrees with the system's. Shifted, both show the same days in every run, and no run meets midnight.
/// A file's time that a test has set by its clock is shown as it is: it is nearer to that day.
package struct ShiftedTime: FileEffects {
  /// The shift of the current test; nil for none.
  @TaskLocal package static var current: ShiftedTime?

  /// When every test begins, after the dates in their logs: 2026-03-02T14:30:05.123Z.
  private static let beginning = Timestamp(milliseconds: 1_772_461_805_123)

  private let shift: Duration
  /// Earlier times are shown as they are.
  private let border: FileTime

  fileprivate init() {
    let system = Timestamp.now()
    shift = Self.beginning - system
    border = FileTime(
      Timestamp(milliseconds: (Self.beginning.milliseconds + system.milliseconds) / 2))
  }

  /// A clock that starts at the shifted time.
  ///
  /// - Throws: an expectation's failure, in a test without the trait.
  package static func clock() throws -> TestClock {
    let current = try #require(current, "the test needs the trait .shiftedTime")
    return TestClock(current.now.milliseconds)
  }

  /// This machine, with the time of the current test.
  package static var machine: Machine {
    var machine = Machine.current
    if let current { machine.now = { current.now } }
    return machine
  }

  /// A file's status with the time of the current test.
  package static func shown(_ status: FileStatus) -> FileStatus {
    current?.status(status) ?? status
  }

  /// The shifted time.
  package var now: Timestamp { Timestamp.now() + shift }

  private func shifted(_ time: FileTime) -> FileTime {
    time < border ? time : FileTime(nanoseconds: time.nanoseconds + shift.nanoseconds)
  }

  // MARK: Effects

  package func perform(_ effect: FileEffect, _ body: () -> Int) -> Int { body() }

  package func random() -> UInt64 { .random(in: 0 ... .max) }

  package func status(_ status: FileStatus) -> FileStatus {
    FileStatus(
      kind: status.kind, device: status.device, inode: status.inode, length: status.length,
      owner: status.owner, rights: status.rights, modified: shifted(status.modified),
      changed: shifted(status.changed))
  }
}

/// Runs each case of a test, or of a suite's tests, with ``ShiftedTime``.
package struct ShiftedTimeTrait: TestTrait, SuiteTrait, TestScoping {
  package var isRecursive: Bool { true }

  package func provideScope(
    for test: Test, testCase: Test.Case?,
    performing function: @concurrent @Sendable () async throws -> Void
  ) async throws {
    let time = ShiftedTime()
    try await ShiftedTime.$current.withValue(time) {
      try await FileEffect.$hook.withValue(time) { try await function() }
    }
  }
}

extension Trait where Self == ShiftedTimeTrait {
  /// The times of files agree with the test's clock, see ``ShiftedTime``.
  package static var shiftedTime: Self { Self() }
}

import LogRecords
import Platform
import SessionLog
import SessionRecorder
import TestSupport
import Testing

@Suite(.tags(.small)) struct UploadScheduleTests {
  private func activity(
    grown: Bool = false, error: Bool = false, back: Bool = false
  ) -> SessionActivity {
    var activity = SessionActivity()
    (activity.hasGrown, activity.hasError, activity.isBack) = (grown, error, back)
    return activity
  }

  @Test func `an active session is uploaded every minute`() {
    var schedule = UploadSchedule(interval: .seconds(60), now: .zero)
    let due = (1...300).filter {
      schedule.begins(activity(grown: $0 <= 200), now: .seconds($0), isBusy: false)
    }
    #expect(due == [60, 120, 180, 240])
  }

  @Test func `an idle session is not uploaded`() {
    var schedule = UploadSchedule(interval: .seconds(60), now: .zero)
    let due = (1...300).filter { schedule.begins(activity(), now: .seconds($0), isBusy: false) }
    #expect(due == [])
  }

  @Test func `the first error after a quiet time is uploaded at once`() {
    var schedule = UploadSchedule(interval: .seconds(60), now: .zero)
    let errors: Set<Int> = [10, 11, 30, 100, 130]
    let due = (1...170).filter {
      schedule.begins(
        activity(grown: true, error: errors.contains($0)), now: .seconds($0), isBusy: false)
    }
    // At 10, a minute later, at 100 because the last one was long ago, and a minute later.
    #expect(due == [10, 70, 100, 160])
  }

  @Test func `a return of the network starts an upload at once`() {
    var schedule = UploadSchedule(interval: nil, now: .zero)
    let grown = schedule.begins(activity(grown: true), now: .seconds(500), isBusy: false)
    let back = schedule.begins(activity(back: true), now: .seconds(501), isBusy: false)
    #expect(!grown && back)
  }

  /// Records are written at 10 and at 70 seconds, the latter an ERROR.
  @Test func `an upload that is due while another one runs begins after it`() {
    for isError in [false, true] {
      var schedule = UploadSchedule(interval: .seconds(60), now: .zero)
      let due = (1...200).filter { second in
        schedule.begins(
          activity(grown: [10, 70].contains(second), error: isError && second == 70),
          now: .seconds(second), isBusy: (61...130).contains(second))
      }
      #expect(due == [60, 131])
    }
  }

  @Test func `an upload that left bytes is repeated after the interval without growth`() {
    var schedule = UploadSchedule(interval: .seconds(60), now: .zero)
    var due: [Int] = []
    for second in 1...200 {
      guard
        schedule.begins(activity(grown: second == 10), now: .seconds(second), isBusy: false)
      else { continue }
      due.append(second)
      if due.count == 1 { schedule.retry() }
    }
    #expect(due == [60, 120])
  }

  @Test func `sleep and network changes are recorded as events`() {
    final class Machine: @unchecked Sendable {
      // Unchecked: only accessed by this test's single thread.
      var awake = Duration.seconds(1)
      var always = Duration.seconds(50)
      var isOnline = true
    }
    let machine = Machine()
    func at(_ milliseconds: Int64) -> Timestamp { Timestamp(milliseconds: milliseconds) }
    var watch = MachineWatch(
      now: at(0), clocks: { (machine.awake, machine.always) }, isOnline: { machine.isOnline })
    func pass(_ awake: Int64, asleep: Int64 = 0, at time: Int64) -> [String] {
      machine.awake += .milliseconds(awake)
      machine.always += .milliseconds(awake + asleep)
      return watch.poll(at: at(time)).map { "\($0.time.milliseconds) \($0.event)" }
    }
    #expect(pass(1000, asleep: 3, at: 1000) == [])
    #expect(
      pass(1000, asleep: 3_600_000, at: 3_602_000)
        == ["1000 BACKGROUND asleep", "3602000 FOREGROUND awake after 3600 s"])
    machine.isOnline = false
    #expect(pass(1000, at: 3_603_000) == [])
    #expect(pass(3000, at: 3_606_000) == ["3606000 NETWORK lost"])
    #expect(pass(5000, at: 3_611_000) == [])
    machine.isOnline = true
    #expect(pass(5000, at: 3_616_000) == ["3616000 NETWORK back"])
  }

  @Test(arguments: [
    SessionEvent.background("stopped by SIGTSTP"), .foreground("awake after 9 s"), .networkLost,
    .networkBack, .window(columns: 80, rows: 24, terminal: nil),
    .window(columns: 1, rows: 999, terminal: "xterm-256color"),
  ]) func `events survive formatting and parsing`(_ event: SessionEvent) {
    #expect(SessionEvent(event.description) == event)
  }

  @Test(arguments: ["", "SESSION START app=x", "WINDOW", "WINDOW 80", "WINDOW 0x5", "NETWORK gone"])
  func `text that is not an event is refused`(_ text: String) { #expect(SessionEvent(text) == nil) }
}

import Foundation
import ObjectStore
import Platform
import SessionLog
import TestSupport
import Testing

@testable import Fleet

@Suite struct HookStateTests {
  private func crashed(_ home: TestHome, endedHoursAgo hours: Int64) throws -> Sidecar {
    let session = try home.session("x\n".utf8, cause: .signal(11))
    var sidecar = try Sidecar.load(home.home.files(for: session).sidecar)
    sidecar.endedAt = home.clock.now() - .hours(hours)
    home.clock.advance(seconds: 1)
    return sidecar
  }

  @Test func eachCrashIsToldOnceAndNoneThatIsOld() throws {
    let home = try TestHome()
    let old = try crashed(home, endedHoursAgo: 2)
    let new = try crashed(home, endedHoursAgo: 0)
    let now = home.clock.now()
    let first = HookState.due([new, old], nil, at: now)
    #expect(first.crashes.map(\.sessionId) == [new.sessionId])
    let second = HookState.due([new, old], first.state, at: now)
    #expect(second.crashes.isEmpty)
    // A machine that was off for days has news of before.
    let late = try crashed(home, endedHoursAgo: 90)
    #expect(HookState.due([late], second.state, at: now).crashes.count == 1)
  }

  @Test func aStallIsToldOnceADayWhileItLasts() {
    let start = Timestamp(milliseconds: 1_769_092_205_123)
    var state = HookState()
    let told = [(0, true), (1, true), (23, true), (24, true), (25, false), (26, true)].map {
      state.isStaleDue($0.1, at: start + .hours($0.0))
    }
    #expect(told == [true, false, false, true, false, true])
  }

  @Test func aDamagedFileIsForgotten() throws {
    let home = try TestHome()
    let path = home.home.path + "/hooks.json"
    #expect(try HookState.load(path) == nil)
    var state = HookState()
    state.crashes = ["x": home.clock.now()]
    try state.save(path)
    #expect(try HookState.load(path) == state)
    try AtomicFile.write(Array("[".utf8), to: path)
    #expect(try HookState.load(path) == nil)
  }

  @Test func crashedSessionsAreJudgedHereAndNow() throws {
    let home = try TestHome()
    let fine = try home.session("x\n".utf8)
    home.clock.advance(seconds: 1)
    let writer = try home.writer()
    home.clock.advance(seconds: 1)
    let lost = try home.writer()
    let vanished = lost.session
    withExtendedLifetime(lost) {}
    let found = try CrashedSessions.find(
      [fine, writer.session, vanished], in: home.home, device: home.device,
      machine: home.clock.machine)
    // Their recorder is this process, and lives.
    #expect(found.isEmpty)
    try writer.end(.signal(6))
    let crashed = try CrashedSessions.find(
      [fine, writer.session], in: home.home, device: home.device, machine: home.clock.machine)
    #expect(crashed.map(\.sessionId) == [writer.session])
    #expect(try HookInput(crash: crashed[0]).json().starts(with: Array("{\"app\":".utf8)))
  }

  @Test func metricsAreTextForACollector() {
    var metrics = DeviceMetrics()
    metrics.user = "a\"b\\c"
    metrics.lastSuccess = Timestamp(milliseconds: 1_769_092_205_123)
    metrics.unsent = ["waiting": 12, "backoff": 3]
    metrics.sessions = ["active": 1, "crashed": 2]
    metrics.crashes = 2
    metrics.requests.put = 7
    let lines = DeviceMetrics.text([metrics]).split(separator: "\n")
    #expect(lines.contains(#"tidemark_last_success_timestamp_seconds{user="a\"b\\c"} 1769092205"#))
    #expect(lines.contains(#"tidemark_unsent_bytes{user="a\"b\\c",reason="backoff"} 3"#))
    #expect(lines.contains(#"tidemark_sessions{user="a\"b\\c",state="crashed"} 2"#))
    #expect(lines.contains(#"tidemark_requests_total{user="a\"b\\c",kind="put"} 7"#))
    #expect(DeviceMetrics.text([DeviceMetrics()]).contains("\ntidemark_crashes_24h 0\n"))
    #expect(lines.allSatisfy { $0.hasPrefix("#") || $0.hasPrefix("tidemark_") })
  }
}

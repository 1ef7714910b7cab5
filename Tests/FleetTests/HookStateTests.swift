import Foundation
import ObjectStore
import Platform
import SessionLog
import TestSupport
import Testing

@testable import Fleet

@Suite(.tags(.medium)) struct HookStateTests {
  private func crashed(_ home: TestHome, endedHoursAgo hours: Int64) throws -> Sidecar {
    let session = try home.session("x\n".utf8, cause: .signal(11))
    var sidecar = try Sidecar.load(home.home.files(for: session).sidecar)
    sidecar.endedAt = home.clock.now() - .hours(hours)
    home.clock.advance(seconds: 1)
    return sidecar
  }

  /// Reports crashes, each of which takes some seconds; one may fail.
  private func told(
    _ crashed: [Sidecar], _ home: TestHome, taking seconds: Int64 = 1, failing: SessionID? = nil
  ) async throws -> (told: [SessionID], waiting: [SessionID]) {
    struct Killed: Error {}
    let telling = CrashReporter(home.home.path + "/hooks.json", home.clock.machine)
    var told: [SessionID] = []
    do {
      let waiting = try await telling.report(crashed) { sidecar in
        if sidecar.sessionId == failing { throw Killed() }
        told.append(sidecar.sessionId)
        home.clock.advance(seconds: seconds)
      }
      #expect(try telling.waiting().count == waiting)
    } catch is Killed {}
    return (told, try telling.waiting().sorted())
  }

  @Test func `each crash runs the hook once, and old crashes never do`() async throws {
    let home = try TestHome()
    let old = try crashed(home, endedHoursAgo: 2)
    let new = try crashed(home, endedHoursAgo: 0)
    #expect(try await told([new, old], home).told == [new.sessionId])
    #expect(try await told([new, old], home).told.isEmpty)
    // A machine that was off for days still reports earlier crashes.
    let late = try crashed(home, endedHoursAgo: 90)
    #expect(try await told([late], home).told == [late.sessionId])
  }

  @Test func `a crash after a first upload without crashes runs the hook`() async throws {
    let home = try TestHome()
    #expect(try await told([], home).told.isEmpty)
    let late = try crashed(home, endedHoursAgo: 90)
    #expect(try await told([late], home).told == [late.sessionId])
  }

  /// All hooks of a pass share a minute; the remaining crashes wait, even if they are sealed
  /// meanwhile.
  @Test func `hooks get one minute per pass, and the next pass runs the rest`() async throws {
    let home = try TestHome()
    let crashes = try (0..<5).map { _ in try crashed(home, endedHoursAgo: 0) }
    let sessions = crashes.map(\.sessionId)
    let first = try await told(crashes, home, taking: 29)
    #expect(first.told == Array(sessions.prefix(3)) && first.waiting == Array(sessions.suffix(2)))
    let second = try await told(Array(crashes.suffix(2)), home, taking: 29)
    #expect(second.told == Array(sessions.suffix(2)) && second.waiting.isEmpty)
    #expect(try await told(crashes, home).told.isEmpty)
  }

  @Test func `an interrupted hook runs again for its crash`() async throws {
    let home = try TestHome()
    let crashes = try (0..<3).map { _ in try crashed(home, endedHoursAgo: 0) }
    let sessions = crashes.map(\.sessionId)
    let first = try await told(crashes, home, failing: sessions[1])
    #expect(first.told == [sessions[0]] && first.waiting == Array(sessions.suffix(2)))
    #expect(try await told(crashes, home).told == Array(sessions.suffix(2)))
    // A deleted session no longer waits.
    let deleted = try crashed(home, endedHoursAgo: 0)
    _ = try await told([deleted], home, failing: deleted.sessionId)
    #expect(try await told([], home).waiting.isEmpty)
  }

  @Test func `a stalled upload runs the hook once a day`() {
    let start = Timestamp(milliseconds: 1_769_092_205_123)
    var state = HookState()
    let told = [(0, true), (1, true), (23, true), (24, true), (25, false), (26, true)].map {
      state.isStaleDue($0.1, at: start + .hours($0.0))
    }
    #expect(told == [true, false, false, true, false, true])
  }

  @Test func `a damaged hook state file is ignored`() throws {
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

  @Test func `only sessions that ended with a crash are reported to the hook`() throws {
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

  @Test func `metrics use the Prometheus text format with escaped labels`() {
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

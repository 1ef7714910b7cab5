import Foundation
import LogRecords
import Platform
import SessionLog
import TestSupport
import Testing

@testable import TidemarkLogging

/// Deleting a program's local logs at its user's request.
@Suite(.tags(.medium)) struct ClearTests {
  private let home: LoggingHome
  private let session: LogSession

  init() throws {
    home = try LoggingHome()
    session = try home.session()
  }

  private func sessions() throws -> Set<SessionID> {
    Set(try home.home.home.sessions())
  }

  private func ended(app: String = "test") throws -> SessionID {
    let writer = try home.home.writer(app: app)
    try writer.end(.exit(0))
    return writer.session
  }

  @Test func `clearing deletes the program's own ended sessions, and records it first`()
    async throws
  {
    let old = try ended()
    // Killed: its sidecar is unchanged, and its lock is free.
    var killed: SessionWriter? = try home.home.writer()
    let lost = try #require(killed?.session)
    killed = nil
    let running = try home.home.writer()
    let foreign = try ended(app: "other")
    #expect(try await session.clear() == 2)
    #expect(try sessions() == Set([session.id, running.session, foreign].compactMap(\.self)))
    let entries = try DeletionLedger(home.home.home).entries { [old, lost].contains($0) }
    #expect(Set(entries.map(\.session)) == [old, lost])
    #expect(entries.allSatisfy { $0.ground == .asked && $0.finding == "LogSession.clear()" })
    session.info("still written")
    #expect(try home.text(session).contains("still written\n"))
    session.end()
    #expect(try await session.clear() == 1)
    #expect(try sessions() == [running.session, foreign])
    try running.end(.exit(0))
  }

  @Test func `clearing deletes copies in the trash, and nothing that somebody keeps`() async throws
  {
    let place = home.home.home
    let (trashed, kept) = (try ended(), try ended())
    let time = LivedTime(at: LivedTime.Reading(home.home.clock.machine), random: { 1 })
    try time.save(place)
    try Trash(place).add(place.files(for: trashed), at: time.mark)
    let held = Guarded(try HomeLock.acquire(place))
    try held.withLock { lock in
      _ = try Holds(place).keep(
        kept, for: .days(1), from: time.mark, now: home.home.clock.now(), holding: #require(lock))
    }
    // Another process has the lock until the first wait for it.
    #expect(try await session.clear(waiting: .seconds(10)) { _ in held.withLock { $0 = nil } } == 1)
    #expect(try Trash(place).sessions(at: time.mark).isEmpty)
    #expect(try sessions() == Set([session.id, kept].compactMap(\.self)))
  }

  @Test func `clearing while another process uploads is an error once patience is over`()
    async throws
  {
    let old = try ended()
    let lock = try #require(try HomeLock.acquire(home.home.home))
    await #expect(throws: LogSession.HomeInUse.self) {
      try await session.clear(waiting: .milliseconds(100)) { _ in }
    }
    #expect(try sessions().contains(old))
    withExtendedLifetime(lock) {}
  }

  @Test func `clearing without a home is an error that says why`() async {
    var configuration = LoggingConfiguration(app: "test")
    configuration.console = .off
    let session = LogSession.begin(
      configuration, in: Home(path: "/dev/null/home"), on: home.home.clock.machine, [:])
    await #expect(throws: LogSession.NotRecorded.self) { try await session.clear() }
  }
}

import Foundation
import LogRecords
import ObjectStore
import Platform
import Replica
import SessionLog
import SessionReading
import TestSupport
import Testing

@testable import Sync

/// A session made from a copy elsewhere is one of this home's.
@Suite(.tags(.medium)) struct RestoredSessionTests {
  private static let day: Int64 = 86_400

  /// Restores a session into a home that has lived for a month.
  private func restored(
    _ home: TestHome, consent: Consent? = nil
  ) async throws -> (session: SessionID, lived: LivedClock) {
    let session = try home.session(Array("x\n".utf8))
    var original = try Sidecar.load(home.home.files(for: session).sidecar)
    original.consent = consent
    original.generation = 2
    original.former = [.init(generation: 1, length: 7, until: home.clock.now())]
    let bytes = try home.log(session)
    try FileManager.default.removeItem(atPath: home.home.files(for: session).directory)
    let lived = try LivedClock(home: home.home, machine: home.clock.machine)
    home.clock.advance(seconds: 30 * Self.day)
    let restorer = SessionRestorer(
      into: home.home, device: home.device, machine: home.clock.machine)
    var isRead = false
    let new = try await restorer.restore(
      original, length: ByteCount(bytes.count), agingFrom: lived.time.mark,
      locking: {
        #expect(isRead)
        return try #require(try HomeLock.acquire(home.home))
      }
    ) { write in
      // An upload can run meanwhile.
      #expect(try HomeLock.acquire(home.home) != nil)
      try bytes.withUnsafeBytes(write)
      isRead = true
    }
    #expect(try home.log(new) == bytes)
    // The original's earlier generations are no streams of this session.
    let sidecar = try Sidecar.load(home.home.files(for: new).sidecar)
    #expect(sidecar.former == nil && sidecar.generation == nil)
    return (new, lived)
  }

  @Test func `without a store it ages from its restoration`() async throws {
    let home = try TestHome()
    let (session, lived) = try await restored(home)
    func plan() async throws -> ReapPlan {
      try await LocalReaper(home: home.home, lived: lived, now: home.clock.now())
        .plan(Retention())
    }
    #expect(try await plan().isEmpty)
    home.clock.advance(seconds: 7 * Self.day)
    #expect(try await plan().local.map(\.session) == [session])
  }

  @Test func `a session whose log was withheld later is sent again`() async throws {
    let site = try Site()
    let (session, _) = try await restored(site.local, consent: .metadata)
    try await site.upload()
    try await site.expectSealedAndEqual(session)
  }

  @Test func `a restore that is killed leaves no sidecar without a log`() async throws {
    let home = try TestHome()
    let files = TestFiles()
    let (session, _) = try await FileEffect.$hook.withValue(files) { try await restored(home) }
    let own = home.home.files(for: session)
    let effects = files.effects
    let locked = try #require(effects.firstIndex { $0.path == own.lock })
    let marked = try #require(effects.firstIndex { $0.path == own.marker })
    let logged = try #require(effects.lastIndex { $0.kind == .rename(to: own.log) })
    let described = try #require(effects.firstIndex { $0.path.hasPrefix(own.sidecar) })
    #expect(locked < logged && logged < described)
    // The cache may be on another file system.
    #expect(effects[logged].path.hasPrefix(own.directory + "/"))
    // Without the marker no pass would find what a killed restore leaves.
    #expect(marked < logged)
    // It is released: an upload may seal the session.
    #expect(try FileLock.tryExclusive(own.lock) != nil)
  }
}

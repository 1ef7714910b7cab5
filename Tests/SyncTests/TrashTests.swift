import Foundation
import LogRecords
import ObjectStore
import Platform
import Replica
import SessionLog
import TestSupport
import Testing

@testable import Sync

/// Local copies deleted by retention are kept for a while.
@Suite(.tags(.medium)) struct TrashTests {
  private static let day: Int64 = 86_400

  private func reap(_ site: Site, _ retention: Retention = Retention()) async throws {
    let context = try site.context()
    let reaper = LocalReaper(context)
    for outcome in try await reaper.execute(reaper.plan(retention), retention) {
      try outcome.error.map { throw $0 }
    }
    try context.saveLivedTime()
  }

  /// A site with a sealed session that retention has moved to the trash.
  private func trashed() async throws -> (Site, SessionID) {
    let site = try Site()
    let session = try site.local.session(Array("x\n".utf8))
    try await site.upload()
    site.local.clock.advance(seconds: 7 * Self.day)
    try await reap(site)
    return (site, session)
  }

  private func names(_ site: Site) -> [String] {
    let trash = site.local.home.path + "/trash"
    let all = (try? FileManager.default.subpathsOfDirectory(atPath: trash)) ?? []
    return all.filter { $0.contains(".log") || $0.hasSuffix(".json") }
  }

  private func restore(_ session: SessionID, _ site: Site) throws -> Bool {
    let lock = try #require(try HomeLock.acquire(site.local.home))
    return try Trash(site.local.home).restore(
      session, at: site.context().lived.time.mark, holding: lock)
  }

  @Test(arguments: ["edited", "longer", "cut", "replaced", "emptied", "same"])
  func `a log that was not sent as it is outlives its expired remote copy`(
    log: String
  ) async throws {
    let site = try Site()
    let session = try site.local.session(Array("one\ntwo\n".utf8))
    try await site.upload()
    let files = site.local.home.files(for: session)
    var bytes = try site.local.log(session)
    switch log {
    case "edited": bytes[bytes.count - 3] ^= 1
    case "longer": bytes += Array("three\n".utf8)
    case "cut": bytes.removeLast(3)
    case "replaced": bytes = Array("other\n".utf8)
    case "emptied": bytes = []
    default: break
    }
    if log != "same" { try Data(bytes).write(to: URL(filePath: files.log)) }
    var sidecar = try Sidecar.load(files.sidecar)
    sidecar.remoteReapedAt = site.local.clock.now()
    try sidecar.save(files.sidecar)
    site.local.clock.advance(seconds: 40 * Self.day)
    try await reap(site)
    let isHere = File.exists(files.log)
    // A beginning of an object cannot be told from something else.
    #expect(isHere == ["edited", "longer", "cut", "replaced"].contains(log))
    if isHere { #expect(try site.local.log(session) == bytes) }
  }

  @Test func `a log that differs from its seal outlives its expired remote copy`() async throws {
    let site = try Site()
    let session = try site.local.session(Array("x\n".utf8))
    try await site.upload()
    let files = site.local.home.files(for: session)
    var sidecar = try Sidecar.load(files.sidecar)
    sidecar.remoteReapedAt = site.local.clock.now()
    sidecar.seal?.logDiffers = true
    try sidecar.save(files.sidecar)
    site.local.clock.advance(seconds: 40 * Self.day)
    let plan = try await LocalReaper(site.context()).plan(Retention())
    #expect(plan.local.isEmpty)
    #expect(plan.kept.map(\.session) == [session])
  }

  @Test func `a reaped session can be restored for seven days`() async throws {
    let site = try Site()
    let session = try site.local.session(Array("x\n".utf8))
    let bytes = try site.local.log(session)
    try await site.upload()
    site.local.clock.advance(seconds: 7 * Self.day)
    try await reap(site)
    #expect(throws: (any Error).self) { try site.local.log(session) }
    #expect(names(site).count == 2)
    site.local.clock.advance(seconds: 7 * Self.day)
    try await reap(site)
    #expect(try restore(session, site))
    #expect(try site.local.log(session) == bytes)
    #expect(names(site).isEmpty)
    // Its age starts again.
    #expect(try await LocalReaper(site.context()).plan(Retention()).isEmpty)
    site.local.clock.advance(seconds: 7 * Self.day)
    try await reap(site)
    site.local.clock.advance(seconds: 8 * Self.day)
    try await reap(site)
    #expect(names(site).isEmpty)
    #expect(try !restore(session, site))
  }

  @Test(arguments: [false, true])
  func `a restored session that was not sent waits for the next upload`(
    isWithdrawn: Bool
  ) async throws {
    let site = try Site()
    let session = try site.local.session(Array("x\n".utf8))
    let local = LocalSession(site.local.home, session)
    if isWithdrawn { try local.withdraw(at: site.local.clock.now()) }
    let mark = try site.context().lived.time.mark
    try Trash(site.local.home).add(local.files, at: mark)
    try local.removeTraces()
    #expect(try site.local.home.openSessions().isEmpty)
    #expect(try restore(session, site))
    #expect(try site.local.home.openSessions() == [session])
    let report = try await site.upload()
    #expect(report.skipped.map(\.why).contains(.withdrawn) == isWithdrawn)
    if !isWithdrawn { try await site.expectSealedAndEqual(session) }
  }

  @Test(arguments: [false, true])
  func `a deletion of a rotated session that is killed is finished by the next pass`(
    isTrashed: Bool
  ) async throws {
    var retention = Retention()
    if !isTrashed { retention.trash = .zero }
    for lifetime in 0... {
      let site = try Site()
      let home = site.local.home
      let writer = try site.local.writer(rotateAt: 3_000)
      let session = writer.session
      for line in 0..<70 { writer.print("line \(line) \(String(repeating: "y", count: 90))") }
      try writer.end(.exit(0))
      try await site.upload()
      let bytes = try site.local.log(session)
      try #require(try home.files(for: session).parts().count >= 2)
      site.local.clock.advance(seconds: 7 * Self.day)
      let files = TestFiles(lifetime: lifetime)
      do {
        let reaper = LocalReaper(try site.context())
        let plan = try await reaper.plan(retention)
        try #require(plan.local.map(\.session) == [session])
        FileEffect.$hook.withValue(files) { _ = try? reaper.execute(plan, retention) }
      }
      try await reap(site, retention)
      let left = try home.sessions()
      #expect(left.isEmpty, "killed after \(lifetime)")
      #expect(try restore(session, site) == isTrashed)
      if isTrashed { #expect(try site.local.log(session) == bytes, "killed after \(lifetime)") }
      guard files.isDead else { return #expect(lifetime > 3) }
    }
  }

  @Test func `what another store has of the trash is named`() async throws {
    let (site, session) = try await trashed()
    let (home, location) = (site.local.home, site.store.location)
    #expect(try SealedCopies.inTrash(of: home, elsewhereThan: location).isEmpty)
    let elsewhere = try SealedCopies.inTrash(of: home, elsewhereThan: "file:///other")
    #expect(elsewhere == [location: [session]])
    #expect(try SealedCopies(home, store: "file:///other").elsewhere.isEmpty)
    #expect(try restore(session, site))
    #expect(
      try SealedCopies.inTrash(of: home, elsewhereThan: "file:///other").isEmpty)
    #expect(try SealedCopies(home, store: "file:///other").elsewhere == [location: [session]])
  }

  /// Links to themselves cannot be opened, whoever tries.
  @Test func `what cannot be read in the trash hides no session`() async throws {
    let site = try Site()
    let session = try site.local.session(Array("x\n".utf8))
    try await site.upload()
    site.local.clock.advance(seconds: 7 * Self.day)
    try await reap(site)
    let trash = site.local.home.path + "/trash"
    let link = "\(trash)/aaaa.0"
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: link)
    let mark = try site.context().lived.time.mark
    var skipped: [String] = []
    func sessions() throws -> [SessionID] {
      try Trash(site.local.home).sessions(at: mark) { skipped.append($0) }.map(\.key)
    }
    #expect(try sessions() == [session])
    #expect(skipped.count == 1 && skipped[0].hasPrefix("\(link) is not a folder"), "\(skipped)")
    #expect(try Trash(site.local.home).sessions(at: mark).map(\.key) == [session])
    #expect(try restore(session, site))
    try FileManager.default.removeItem(atPath: trash)
    try FileManager.default.createSymbolicLink(atPath: trash, withDestinationPath: trash)
    #expect(try sessions() == [])
    #expect(skipped.count == 2 && skipped[1].contains(trash), "\(skipped)")
    #expect(throws: SystemError.self) { try Trash(site.local.home).sessions(at: mark) }
  }

  @Test(arguments: [false, true])
  func `parts of a rotated session come back with it`(losesNote: Bool) async throws {
    let site = try Site()
    let writer = try site.local.writer(rotateAt: 10_000)
    let line = Array((String(repeating: "y", count: 99) + "\n").utf8)
    for _ in 0..<300 { line.withUnsafeBytes { writer.capture($0, from: .standardOutput) } }
    try writer.end(.exit(0))
    let bytes = try site.local.log(writer.session)
    try await site.upload()
    if losesNote { try File.remove(writer.files.rotated) }
    let parts = try writer.files.parts()
    site.local.clock.advance(seconds: 7 * Self.day)
    try await reap(site)
    #expect(try writer.files.namedParts().isEmpty && !parts.isEmpty)
    #expect(try restore(writer.session, site))
    #expect(try writer.files.parts() == parts)
    #expect(try site.local.log(writer.session) == bytes)
  }

  /// Without the note of the rotation and the first part, it is not taken for a part of the log.
  @Test func `a part that was not sealed is never deleted`() async throws {
    let site = try Site()
    let session = try site.local.session(Array("x\n".utf8))
    let bytes = try site.local.log(session)
    try await site.upload()
    let local = LocalSession(site.local.home, session)
    let part = local.files.part(at: 5_000)
    try Data("later\n".utf8).write(to: URL(filePath: part.plain))
    let size = try local.logBytes()
    #expect(size == ByteCount(bytes.count + 6))
    site.local.clock.advance(seconds: 7 * Self.day)
    let plan = try await LocalReaper(site.context()).plan(Retention())
    #expect(plan.local.isEmpty)
    #expect(plan.kept.first?.reason.contains("\(part.plain) is not within") == true)
    try await reap(site)
    #expect(try site.local.log(session) == bytes && local.logBytes() == size)
    try File.remove(local.files.log)
    #expect(throws: SystemError.self) { try local.removeTraces() }
    #expect(File.exists(part.plain))
  }

  @Test func `a file beside a log that is not the session's own stays`() async throws {
    let site = try Site()
    let session = try site.local.session(Array("x\n".utf8))
    try await site.upload()
    let files = site.local.home.files(for: session)
    let (own, other) = (files.sidecar + ".abc123.tmp", files.log + ".mine")
    for path in [own, other] { try Data("y".utf8).write(to: URL(filePath: path)) }
    site.local.clock.advance(seconds: 7 * Self.day)
    try await reap(site)
    let left = try Directory.names(in: files.directory)
    #expect(left == ["\(session).log.mine"], "\(left)")
  }

  @Test func `a clock that jumps ahead empties nothing`() async throws {
    let site = try Site()
    try site.local.session(Array("x\n".utf8))
    try await site.upload()
    site.local.clock.advance(seconds: 7 * Self.day)
    try await reap(site)
    site.local.clock.set(seconds: 400 * Self.day)
    try await reap(site)
    #expect(names(site).count == 2)
  }

  @Test func `a lost count starts the time in the trash again`() async throws {
    let site = try Site()
    try site.local.session(Array("x\n".utf8))
    try await site.upload()
    site.local.clock.advance(seconds: 7 * Self.day)
    try await reap(site)
    try FileManager.default.removeItem(atPath: site.local.home.livedPath)
    for _ in 0..<8 {
      #expect(names(site).count == 2)
      try await reap(site)
      site.local.clock.advance(seconds: Self.day)
    }
    try await reap(site)
    #expect(names(site).isEmpty)
  }

  @Test func `local-max empties the trash before it takes sessions early`() async throws {
    let site = try Site()
    let bytes = [UInt8](repeating: 0x61, count: 10_000)
    let old = try site.local.session(bytes)
    try await site.upload()
    site.local.clock.advance(seconds: 7 * Self.day)
    let kept = try site.local.session(bytes)
    try await site.upload()
    var retention = Retention()
    retention.localMax = 15_000
    try await reap(site, retention)
    #expect(names(site).isEmpty)
    #expect(throws: (any Error).self) { try site.local.log(old) }
    #expect(try site.local.log(kept).count > 10_000)
  }

  @Test func `a full disk empties the trash`() async throws {
    let site = try Site()
    try site.local.session(Array("x\n".utf8))
    try await site.upload()
    site.local.clock.advance(seconds: 7 * Self.day)
    try await reap(site)
    let context = try site.context()
    var reaper = LocalReaper(context)
    reaper.space = FreeSpace { _ in .init(free: 1 << 20, isShort: true) }
    _ = try await reaper.execute(reaper.plan(Retention()))
    #expect(names(site).isEmpty)
  }

  @Test func `a copy that cannot be moved to the trash stays`() async throws {
    let site = try Site()
    let session = try site.local.session(Array("x\n".utf8))
    try await site.upload()
    site.local.clock.advance(seconds: 7 * Self.day)
    let context = try site.context()
    let reaper = LocalReaper(context)
    let plan = try await reaper.plan(Retention())
    // A file has the name of the target folder.
    let trash = site.local.home.path + "/trash"
    try FileManager.default.createDirectory(atPath: trash, withIntermediateDirectories: true)
    let mark = context.lived.time.mark
    try Data().write(to: URL(filePath: "\(trash)/\(mark.counter).\(mark.seconds / 86_400)"))
    #expect(try reaper.execute(plan).count { $0.error != nil } == 1)
    #expect(try !site.local.log(session).isEmpty)
  }

  /// On a full disk, making the trash's folder fails, or moving a file there; where the sessions
  /// are on a disk of their own, moving always does.
  @Test(arguments: [(false, ENOSPC), (true, ENOSPC), (true, EXDEV)])
  func `a copy that does not fit into the trash is deleted`(isRename: Bool, error: Int32)
    async throws
  {
    let site = try Site()
    let session = try site.local.session(Array("x\n".utf8))
    try await site.upload()
    site.local.clock.advance(seconds: 7 * Self.day)
    let reaper = LocalReaper(try site.context())
    let plan = try await reaper.plan(Retention())
    let files = TestFiles { effect in
      switch effect.kind {
      case .makeDirectory where !isRename: effect.path.contains("/trash") ? error : nil
      case .rename(let to) where isRename: to.contains("/trash/") ? error : nil
      default: nil
      }
    }
    let outcomes = try FileEffect.$hook.withValue(files) { try reaper.execute(plan) }
    #expect(outcomes.allSatisfy { $0.error == nil })
    #expect(throws: (any Error).self) { try site.local.log(session) }
    #expect(names(site).isEmpty && plan.local.count == 1)
    let entries = try DeletionLedger(site.local.home).entries { _ in true }
    #expect(entries.map(\.isInTrash) == [true, nil])
  }

  @Test func `a trash that cannot be emptied is reported`() async throws {
    let site = try Site()
    try site.local.session(Array("x\n".utf8))
    try await site.upload()
    site.local.clock.advance(seconds: 7 * Self.day)
    try await reap(site)
    site.local.clock.advance(seconds: 9 * Self.day)
    let files = TestFiles { effect in
      effect.kind == .remove && effect.path.contains("/trash/") ? EPERM : nil
    }
    for _ in 0..<2 {
      let reaper = LocalReaper(try site.context())
      let plan = try await reaper.plan(Retention())
      let outcomes = try FileEffect.$hook.withValue(files) { try reaper.execute(plan) }
      #expect(outcomes.map { $0.error != nil } == [true])
    }
    let entries = try DeletionLedger(site.local.home).entries { _ in true }
    #expect(entries.filter { $0.copy == .trash }.map { $0.failure == nil } == [true, false])
    #expect(names(site).count == 2)
  }

  @Test func `a session that lost its remote copy in the trash needs no proof`() async throws {
    let (site, session) = try await trashed()
    let context = try site.context()
    var retention = Retention()
    retention.remote = .zero
    let remote = RemoteReaper(context, devices: [context.device.deviceId])
    #expect(try await remote.execute(remote.plan(retention)).allSatisfy { $0.error == nil })
    #expect(try restore(session, site))
    site.local.clock.advance(seconds: 6 * Self.day)
    #expect(try await LocalReaper(site.context()).plan(Retention()).isEmpty)
    site.local.clock.advance(seconds: Self.day)
    let plan = try await LocalReaper(site.context()).plan(Retention())
    #expect(plan.local.map(\.session) == [session])
  }

  @Test func `a kept session stays in the trash, and one deleted by hand does not`() async throws {
    let site = try Site()
    let kept = try site.local.session(Array("x\n".utf8))
    let deleted = try site.local.session(Array("y\n".utf8))
    try await site.upload()
    site.local.clock.advance(seconds: 7 * Self.day)
    try await reap(site)
    let context = try site.context()
    do {
      let lock = try #require(try HomeLock.acquire(site.local.home))
      _ = try Holds(site.local.home).keep(kept, for: .days(90), context.lived, holding: lock)
      let deletion = Deletion(
        home: site.local.home, context: context, lived: context.lived, command: "test")
      _ = try await deletion.delete(deleted, local: true, remote: nil, holding: lock)
    }
    #expect(try !restore(deleted, site))
    site.local.clock.advance(seconds: 20 * Self.day)
    try await reap(site)
    #expect(try restore(kept, site))
  }

  @Test func `without a trash reaped copies are deleted at once`() async throws {
    let site = try Site()
    let session = try site.local.session(Array("x\n".utf8))
    try await site.upload()
    site.local.clock.advance(seconds: 7 * Self.day)
    var retention = Retention()
    retention.trash = .zero
    try await reap(site, retention)
    #expect(names(site).isEmpty)
    #expect(throws: (any Error).self) { try site.local.log(session) }
  }

  @Test func `a copy stays in the trash while its remote copy is known to be damaged`()
    async throws
  {
    let (site, session) = try await trashed()
    func record(_ problem: String?) throws {
      let now = site.local.clock.now()
      var copies = DamagedCopies(site.local.home, store: site.store.location, at: now)
      try copies.record([.init(session, problem: problem)], keptFor: .days(90), at: now)
    }
    try record("an object is missing")
    for _ in 1...2 {
      site.local.clock.advance(seconds: 8 * Self.day)
      try await reap(site)
      #expect(names(site).count == 2)
    }
    try record(nil)
    try await reap(site)
    #expect(names(site).isEmpty)
  }

  /// What becomes of the remote copy while the local one is in the trash.
  enum Loss: CaseIterable { case seal, objects, store, access }

  @Test(arguments: Loss.allCases)
  func `a copy stays in the trash unless this pass finds the remote one`(_ loss: Loss)
    async throws
  {
    let (site, session) = try await trashed()
    #expect(names(site).count == 2)
    let remote = try await site.remote(session)
    let seal = remote.folder.key + (try #require(remote.seal).fileName)
    switch loss {
    case .seal: _ = try await site.store.delete([seal])
    case .objects: _ = try await site.store.delete(remote.keys.filter { $0 != seal })
    case .store, .access: break
    }
    site.local.clock.advance(seconds: 8 * Self.day)
    var tight = Retention()
    tight.localMax = 1
    // The same where the space is wanted, and where a person names an age.
    for retention in [Retention(), tight, Retention().asking(.seconds(1))] {
      var context = try site.context()
      if loss == .store {
        let other = "\(site.local.folder)/other"
        try DirectoryStore.prepared(at: other)
        context = try SyncContext(
          home: site.local.home, device: site.device,
          store: try openStore(
            StoreURL("file://\(other)"), settings: StoreSettings(machine: .current),
            environment: [:]),
          machine: site.local.clock.machine, transfers: nil)
      }
      let reaper = LocalReaper(context)
      if loss == .access {
        site.store.plan(.failBefore(.unreachable), on: "LIST")
        await #expect(throws: StoreError.self) { _ = try await reaper.plan(retention) }
        continue
      }
      let plan = try await reaper.plan(retention)
      #expect(plan.kept.contains { $0.session == session && $0.reason.contains("in the trash") })
      #expect(plan.withoutCopy.contains(session) == (loss != .store))
      #expect(try reaper.execute(plan, retention).allSatisfy { $0.error == nil })
    }
    #expect(names(site).count == 2)
  }

  /// The review asks under the id that a session was sent under.
  @Test func `a copy in the trash that a former device sent is reviewed`() async throws {
    let (first, session) = try await trashed()
    var site = first
    let remote = try await site.remote(session)
    try site.loseDevice()
    #expect(try await SealReview(site.context()).runIfDue().isEmpty)
    _ = try await site.store.delete(remote.keys)
    site.local.clock.advance(seconds: 2 * Self.day)
    let found = try await SealReview(site.context()).runIfDue()
    #expect(found.sessions(leaving: .trash) == [session])
    site.local.clock.advance(seconds: 8 * Self.day)
    try await reap(site)
    #expect(names(site).count == 2)
  }

  @Test func `without a store what was sealed stays in the trash until the remote copy expires`()
    async throws
  {
    let (site, _) = try await trashed()
    func reapAlone() async throws {
      let machine = site.local.clock.machine
      let lived = try LivedClock(home: site.local.home, machine: machine)
      let reaper = LocalReaper(home: site.local.home, lived: lived, now: machine.now())
      _ = try reaper.execute(try await reaper.plan(Retention()))
    }
    site.local.clock.advance(seconds: 9 * Self.day)
    try await reapAlone()
    #expect(names(site).count == 2)
    site.local.clock.advance(seconds: 20 * Self.day)
    try await reapAlone()
    #expect(names(site).isEmpty)
  }
}

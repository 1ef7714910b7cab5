import Foundation
import LogRecords
import ObjectStore
import Platform
import Replica
import SessionLog
import TestSupport
import Testing

@testable import Sync

/// Every deletion is recorded with its evidence.
@Suite(.tags(.medium)) struct DeletionLedgerTests {
  private static let day: Int64 = 86_400

  private func entries(_ site: Site, _ session: SessionID) throws -> [DeletionLedger.Entry] {
    try DeletionLedger(site.local.home).entries { $0 == session }
  }

  @Test func `a session's way out is in the ledger`() async throws {
    let site = try Site()
    let writer = try site.local.writer()
    for number in 0..<3 {
      Array("line \(number)\n".utf8).withUnsafeBytes { writer.capture($0, from: .standardOutput) }
      try await site.upload()
    }
    try writer.end(.exit(0))
    try await site.upload()
    try await site.upload()
    site.local.clock.advance(seconds: 7 * Self.day)
    let context = try site.context()
    let local = LocalReaper(context)
    _ = try await local.execute(local.plan(Retention()))
    var retention = Retention()
    retention.remote = .zero
    let remote = RemoteReaper(context, devices: [context.device.deviceId])
    _ = try await remote.execute(remote.plan(retention))
    site.local.clock.advance(seconds: 8 * Self.day)
    _ = try await local.execute(local.plan(Retention()))

    let found = try entries(site, writer.session)
    #expect(found.map(\.copy) == [.remote, .local, .remote, .trash])
    #expect(found.map(\.ground) == [.replaced, .proven, .expired, .expired])
    #expect(found.map(\.isInTrash) == [nil, true, nil, nil])
    #expect(found[1].finding.contains(".terminated."))
  }

  @Test func `a session deleted by hand is in the ledger`() async throws {
    let site = try Site()
    let session = try site.local.session(Array("x\n".utf8))
    try await site.upload()
    let context = try site.context()
    let deletion = Deletion(
      home: site.local.home, context: context, lived: context.lived, command: "tidemark delete")
    _ = try await deletion.delete(session, local: true, remote: site.remote(session))
    let found = try entries(site, session)
    #expect(found.map(\.copy) == [.remote, .local])
    #expect(found.allSatisfy { $0.ground == .asked && $0.finding == "tidemark delete" })
  }

  @Test func `a deletion that fails is in the ledger as such`() async throws {
    let site = try Site()
    let session = try site.local.session(Array("x\n".utf8))
    try await site.upload()
    site.local.clock.advance(seconds: 7 * Self.day)
    let reaper = LocalReaper(try site.context())
    let plan = try await reaper.plan(Retention())
    // A file has the trash's name.
    try Data().write(to: URL(filePath: site.local.home.path + "/trash"))
    #expect(try reaper.execute(plan).count { $0.error != nil } == 1)
    let found = try entries(site, session)
    #expect(found.map { $0.failure == nil } == [true, false])
    #expect(try !site.local.log(session).isEmpty)
  }

  @Test func `a deletion that fails again and again is recorded once`() async throws {
    let site = try Site()
    let session = try site.local.session(Array("x\n".utf8))
    try await site.upload()
    site.local.clock.advance(seconds: 7 * Self.day)
    let trash = site.local.home.path + "/trash"
    try Data().write(to: URL(filePath: trash))
    for _ in 0..<3 {
      let reaper = LocalReaper(try site.context())
      #expect(try await reaper.execute(reaper.plan(Retention())).contains { $0.error != nil })
      site.local.clock.advance(seconds: 60)
    }
    #expect(try entries(site, session).map { $0.failure == nil } == [true, false])
    try FileManager.default.removeItem(atPath: trash)
    let reaper = LocalReaper(try site.context())
    #expect(try await reaper.execute(reaper.plan(Retention())).allSatisfy { $0.error == nil })
    #expect(try entries(site, session).map { $0.failure == nil } == [true, false, true])
  }

  @Test func `a ledger file that cannot be removed stops no deletion`() async throws {
    let site = try Site()
    let session = try site.local.session(Array("x\n".utf8))
    try await site.upload()
    let context = try site.context()
    try context.saveLivedTime()
    // A day that ended a year ago, and no file.
    let day = site.local.clock.now().day
    try FileManager.default.createDirectory(
      atPath: "\(site.local.home.path)/deletions/\(day).jsonl/x", withIntermediateDirectories: true)
    site.local.clock.advance(seconds: 400 * Self.day)
    let reaper = LocalReaper(try site.context())
    let outcomes = try await reaper.execute(reaper.plan(Retention()))
    #expect(outcomes.allSatisfy { $0.error == nil })
    #expect(throws: (any Error).self) { try site.local.log(session) }
    #expect(try entries(site, session).count == 1)
  }

  @Test func `the ledger's folder is made durable`() async throws {
    let site = try Site()
    try site.local.session(Array("x\n".utf8))
    try await site.upload()
    site.local.clock.advance(seconds: 7 * Self.day)
    let reaper = LocalReaper(try site.context())
    let plan = try await reaper.plan(Retention())
    let files = TestFiles()
    _ = try FileEffect.$hook.withValue(files) { try reaper.execute(plan) }
    let home = site.local.home.path
    let mark = try site.context().lived.time.mark
    for path in ["deletions", "trash", "trash/\(mark.counter).\(mark.seconds / 86_400)"] {
      let made = try #require(
        files.effects.firstIndex { $0.kind == .makeDirectory && $0.path == "\(home)/\(path)" })
      let parent = path.split(separator: "/").dropLast().reduce(home) { "\($0)/\($1)" }
      #expect(
        files.effects[made...].contains { $0.kind == .synchronizeNames && $0.path == parent },
        "\(path)")
    }
  }

  @Test func `objects that a store refuses to delete are in the ledger as still there`()
    async throws
  {
    let site = try Site()
    let session = try site.local.session(Array("x\n".utf8))
    try await site.upload()
    let context = try site.context()
    var retention = Retention()
    retention.remote = .zero
    let reaper = RemoteReaper(context, devices: [context.device.deviceId])
    let plan = try await reaper.plan(retention)
    #expect(plan.remote.count == 1)
    site.store.plan(.failBefore(.unreachable), on: "DELETE")
    await #expect(throws: StoreError.self) { try await reaper.execute(plan) }
    #expect(try entries(site, session).map { $0.failure == nil } == [true, false])
  }

  @Test func `a line that was cut is passed over and swallows no other`() async throws {
    let home = try TestHome()
    let ledger = DeletionLedger(home.home)
    let session = try #require(SessionID("20260122t143005z-aaaaaaaa"))
    func append() throws {
      try ledger.append(
        [
          .init(
            at: home.clock.now(), session: session, copy: .local, what: "log", ground: .asked,
            finding: "test")
        ], isDurable: true)
    }
    try append()
    let folder = home.home.path + "/deletions"
    let name = try #require(try FileManager.default.contentsOfDirectory(atPath: folder).first)
    let file = try #require(FileHandle(forWritingAtPath: "\(folder)/\(name)"))
    try file.seekToEnd()
    try file.write(contentsOf: Data("{\"at\":".utf8))
    try file.close()
    try append()
    #expect(try ledger.entries { $0 == session }.count == 2)
  }

  @Test func `files go after a year of lived time and never by the wall clock`() async throws {
    let home = try TestHome()
    let ledger = DeletionLedger(home.home)
    let lived = try LivedClock(home: home.home, machine: home.clock.machine)
    let session = try #require(SessionID("20260122t143005z-aaaaaaaa"))
    for _ in 0..<2 {
      try ledger.append(
        [
          .init(
            at: home.clock.now(), session: session, copy: .local, what: "log", ground: .asked,
            finding: "test")
        ], isDurable: false)
      home.clock.set(seconds: 400 * Self.day)
    }
    try ledger.removeOld(at: lived.time, on: home.clock.now().day)
    #expect(try ledger.entries { $0 == session }.count == 2)
    home.clock.advance(seconds: 400 * Self.day)
    try ledger.removeOld(at: lived.time, on: home.clock.now().day)
    #expect(try ledger.entries { $0 == session }.count == 1)
  }

  @Test func `a full file is followed by another, and the oldest ones go`() async throws {
    let home = try TestHome()
    let ledger = DeletionLedger(home.home, limit: 2_000, fileLimit: 500)
    let lived = try LivedClock(home: home.home, machine: home.clock.machine)
    let session = try #require(SessionID("20260122t143005z-aaaaaaaa"))
    for number in 0..<40 {
      let isNew = try ledger.append(
        [
          .init(
            at: home.clock.now(), session: session, copy: .local, what: "part \(number)",
            ground: .asked, finding: "test")
        ], isDurable: false)
      if isNew { try ledger.removeOld(at: lived.time, on: home.clock.now().day) }
    }
    let folder = home.home.path + "/deletions"
    let names = try FileManager.default.contentsOfDirectory(atPath: folder)
    let bytes = try names.reduce(0) { try $0 + Int(FileStatus("\(folder)/\($1)")?.length ?? 0) }
    #expect(names.count > 2 && bytes < 3_000, "\(names) \(bytes)")
    let left = try ledger.entries { $0 == session }.map(\.what)
    #expect((5..<40).contains(left.count), "\(left)")
    #expect(left == (40 - left.count..<40).map { "part \($0)" })
  }

  @Test func `a file of a later day, from a wrong clock, is not the newest`() throws {
    let home = try TestHome()
    let ledger = DeletionLedger(home.home, limit: 2_000, fileLimit: 1_000_000)
    let lived = try LivedClock(home: home.home, machine: home.clock.machine)
    let session = try #require(SessionID("20260122t143005z-aaaaaaaa"))
    func entry(failing: Bool) -> DeletionLedger.Entry {
      var entry = DeletionLedger.Entry(
        at: home.clock.now(), session: session, copy: .local, what: "log", ground: .asked,
        finding: String(repeating: "a", count: 2_000))
      entry.failure = failing ? "no" : nil
      return entry
    }
    home.clock.set(seconds: 30_000 * Self.day)
    try ledger.append([entry(failing: false)], isDurable: false)
    home.clock.set(seconds: -30_000 * Self.day)
    let today = home.clock.now().day
    try ledger.append([entry(failing: true)], isDurable: false)
    #expect(try ledger.failures(among: [entry(failing: true).kind], on: today).count == 1)
    try ledger.removeOld(at: lived.time, on: today)
    #expect(try ledger.entries { $0 == session }.map(\.failure) == ["no"])
  }

  @Test func `without a ledger nothing is deleted`() async throws {
    let site = try Site()
    let session = try site.local.session(Array("x\n".utf8))
    try await site.upload()
    site.local.clock.advance(seconds: 7 * Self.day)
    // A file has the ledger folder's name: the ledger cannot be written, and nothing is deleted.
    let path = site.local.home.path + "/deletions"
    try Data().write(to: URL(filePath: path))
    let reaper = LocalReaper(try site.context())
    let outcomes = try await reaper.execute(reaper.plan(Retention()))
    #expect(outcomes.count == 1 && outcomes.allSatisfy { $0.error != nil })
    #expect(try !site.local.log(session).isEmpty)
  }
}

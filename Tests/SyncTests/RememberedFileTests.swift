import Foundation
import Platform
import Replica
import SessionLog
import TestSupport
import Testing

@testable import Sync

/// The record of an attached file outlives passes that die, its session's copy in the home, and the
/// file itself: nothing is sent again.
@Suite(.serialized, .shiftedTime, .tags(.medium)) struct RememberedFileTests {
  /// A chain of rotated logs, all but the newest sealed: ten lines each, oldest first.
  private func chain(_ pattern: String = "app.log*", _ count: Int = 4) async throws
    -> AttachedFolder
  {
    let folder = try AttachedFolder(pattern)
    for number in 0..<count {
      if number > 0 { try rotate(folder) }
      try folder.append(number * 10..<number * 10 + 10, to: "app.log")
      for _ in 0..<3 { try await folder.tick() }
    }
    return folder
  }

  private func rotate(_ folder: AttachedFolder) throws {
    for number in (1...9).reversed() where folder.exists("app.log.\(number)") {
      try folder.rename("app.log.\(number)", to: "app.log.\(number + 1)")
    }
    try folder.rename("app.log", to: "app.log.1")
  }

  private func expectOnce(_ count: Int, in folder: AttachedFolder) async throws {
    let lines = try await folder.remoteLines()
    #expect(lines.flatMap { $0 } == Array(0..<count * 10))
    #expect(lines.count == count)
    #expect(try await folder.gaps().isEmpty)
  }

  /// Makes the next pass rebuild its cache, as after one that was killed.
  private func rebuild(_ folder: AttachedFolder) throws {
    let files = try AttachedFiles(folder.site.local.home)
    var pass = try files.pass()
    pass.isDirty = true
    try files.save(pass)
  }

  /// Deletes proven local copies of any age.
  private func reap(_ folder: AttachedFolder) async throws -> Int {
    folder.site.local.clock.advance(seconds: 2)
    let reaper = try LocalReaper(folder.site.context())
    var retention = Retention().asking(.seconds(1))
    retention.isForced = true
    let plan = try await reaper.plan(retention)
    for outcome in try reaper.execute(plan) { #expect(outcome.error == nil) }
    return plan.local.count
  }

  // MARK: Passes that die

  @Test(arguments: 0..<6)
  func `lines are sent once if a pass dies while it follows a rotation chain`(
    changes: Int
  ) async throws {
    let folder = try await chain()
    try rotate(folder)
    try folder.append(40..<50, to: "app.log")
    try await folder.dyingTick(after: changes)
    for _ in 0..<3 { try await folder.tick() }
    try await expectOnce(5, in: folder)
  }

  @Test(arguments: 0..<6)
  func `lines are sent once if a pass dies between two rotations`(changes: Int) async throws {
    let folder = try await chain()
    try rotate(folder)
    try folder.append(40..<50, to: "app.log")
    try await folder.dyingTick(after: changes)
    try rotate(folder)
    try folder.append(50..<60, to: "app.log")
    for _ in 0..<3 { try await folder.tick() }
    try await expectOnce(6, in: folder)
  }

  // MARK: Local copies that go

  @Test func `a rotation between scan and reaping hides no file`() async throws {
    let folder = try await chain()
    try rotate(folder)
    #expect(try await reap(folder) == 0)
    try folder.loseCache()
    for _ in 0..<3 { try await folder.tick() }
    try await expectOnce(4, in: folder)
  }

  @Test func `the session of a removed file is reaped`() async throws {
    let folder = try await chain()
    try folder.remove("app.log.2")
    #expect(try await reap(folder) == 0)
    try await folder.tick()
    #expect(try await reap(folder) == 1)
  }

  @Test func `the file of a deleted session is not sent again`() async throws {
    let folder = try await chain()
    let session = try #require(try folder.sidecars().first { $0.seal != nil }?.sessionId)
    try LocalSession(folder.site.local.home, session).removeTraces()
    try rebuild(folder)
    let before = try await folder.remoteLines()
    #expect(before.count == 4)
    for _ in 0..<2 { try await folder.tick() }
    #expect(try await folder.remoteLines() == before)
  }

  @Test func `a compressed log that is removed before it was sent is sent`() async throws {
    let folder = try AttachedFolder("app.log*")
    try folder.append(0..<10, to: "app.log")
    #expect(try await folder.run("gzip app.log") == 0)
    try folder.tickWithoutStore()
    try folder.remove("app.log.gz")
    try folder.tickWithoutStore()
    for _ in 0..<2 { try await folder.tick() }
    #expect(try await folder.remoteLines() == [Array(0..<10)])
    #expect(try await folder.gaps().isEmpty)
    try await folder.expectSealed(1)
  }

  @Test(arguments: [false, true])
  func `a compressed log that is removed after the pass died that unpacked it is sent`(
    isSent: Bool
  ) async throws {
    let folder = try AttachedFolder("app.log*")
    try folder.append(0..<10, to: "app.log")
    if isSent { try await folder.tick() } else { try folder.tickWithoutStore() }
    try folder.append(10..<20, to: "app.log")
    let session = try #require(try folder.sidecars().first).sessionId
    // The pass has written the whole stream, and not yet said so in the sidecar.
    let log = folder.site.local.home.files(for: session).log
    try AtomicFile.write(AtomicFile.read(folder.file("app.log")), to: log)
    try rebuild(folder)
    #expect(try await folder.run("gzip app.log") == 0)
    try folder.remove("app.log.gz")
    for _ in 0..<3 { try await folder.tick() }
    #expect(try await folder.remoteLines() == [Array(0..<20)])
    #expect(try await folder.gaps().isEmpty)
    try await folder.expectSealed(1)
  }

  // MARK: Lost sidecars

  enum Loss: CaseIterable { case removed, emptied, damaged }

  private func lose(_ session: SessionID, _ loss: Loss, in folder: AttachedFolder) throws {
    let path = folder.site.local.home.files(for: session).sidecar
    switch loss {
    case .removed: try File.remove(path)
    case .emptied: try Data().write(to: URL(filePath: path))
    case .damaged: try Data(count: 700).write(to: URL(filePath: path))
    }
  }

  @Test(arguments: Loss.allCases, [false, true])
  func `a session whose sidecar was lost before its seal continues`(
    loss: Loss, isSent: Bool
  ) async throws {
    let folder = try AttachedFolder("app.log")
    try folder.append(0..<10, to: "app.log")
    if isSent { try await folder.tick() } else { try folder.tickWithoutStore() }
    try folder.append(10..<15, to: "app.log")
    try folder.tickWithoutStore()
    let before = try #require(try folder.sidecars().first)
    try lose(before.sessionId, loss, in: folder)
    try await folder.tick()
    #expect(try await folder.remoteLines() == [Array(0..<15)])
    let after = try #require(try folder.sidecars().first)
    #expect(after.sessionId == before.sessionId)
    #expect(after.appName == before.appName && after.userId == before.userId)
    try folder.append(15..<20, to: "app.log")
    try await folder.tick()
    try await folder.tick(after: 11 * 86_400)
    #expect(try await folder.remoteLines() == [Array(0..<20)])
    try await folder.expectSealed(1)
  }

  @Test(arguments: Loss.allCases, [false, true])
  func `a quiet session whose sidecar was lost continues`(
    loss: Loss, grows: Bool
  ) async throws {
    let folder = try AttachedFolder("app.log")
    try folder.append(0..<10, to: "app.log")
    for _ in 0..<2 { try await folder.tick() }
    let home = folder.site.local.home
    #expect(try home.openSessions().isEmpty)
    try lose(try #require(try folder.sidecars().first?.sessionId), loss, in: folder)
    if grows { try folder.append(10..<20, to: "app.log") }
    for _ in 0..<2 { try await folder.tick(after: 11 * 86_400, isDisturbed: true) }
    for _ in 0..<2 { try await folder.tick(after: 11 * 86_400) }
    let lines = try await folder.remoteLines()
    #expect(lines == [Array(0..<(grows ? 20 : 10))])
    try await folder.expectSealed(1)
  }

  @Test func `a session that was being deleted is not restored`() async throws {
    let folder = try AttachedFolder("app.log")
    try folder.append(0..<10, to: "app.log")
    try await folder.tick()
    let home = folder.site.local.home
    let session = try #require(try folder.sidecars().first?.sessionId)
    try await folder.delete(session)
    // As if it had been killed before it removed the marker.
    try home.mark(session)
    try await folder.tick()
    #expect(try folder.sidecars().isEmpty)
  }

  // MARK: Files that are gone, and come back

  @Test(arguments: [false, true], ["mv", "gzip"])
  func `a file that was moved away and back is sent once`(
    isRebuilt: Bool, how: String
  ) async throws {
    let folder = try await chain()
    #expect(try await folder.run("mv app.log.3 ../away") == 0)
    for _ in 0..<2 { try await folder.tick(after: 7200) }
    if isRebuilt { try rebuild(folder) }
    let back = how == "mv" ? "mv ../away app.log.4" : "gzip ../away && mv ../away.gz app.log.4.gz"
    #expect(try await folder.run(back) == 0)
    for _ in 0..<2 { try await folder.tick(after: 7200) }
    try await expectOnce(4, in: folder)
  }

  @Test(arguments: [false, true], ["app.log", "app.log.1"])
  func `a file that was moved away with unsent lines and back is sent once`(
    isKnown: Bool, name: String
  ) async throws {
    let folder = try AttachedFolder("app.log*")
    try folder.append(0..<10, to: "app.log")
    try await folder.tick()
    try folder.append(10..<15, to: "app.log")
    if isKnown { try folder.tickWithoutStore() }
    #expect(try await folder.run("mv app.log ../away") == 0)
    for _ in 0..<2 { try await folder.tick(after: 7200) }
    try await folder.expectSealed(1)
    #expect(try await folder.run("mv ../away \(name)") == 0)
    for _ in 0..<2 { try await folder.tick(after: 7200) }
    #expect(try await folder.remoteLines() == [Array(0..<10), Array(10..<15)])
  }

  @Test func `a file whose name was reused while it was away is sent once`() async throws {
    let folder = try await chain()
    #expect(try await folder.run("mv app.log.3 ../away") == 0)
    try folder.append(40..<50, to: "app.log.3")
    for _ in 0..<2 { try await folder.tick(after: 7200) }
    #expect(try await folder.run("mv ../away app.log.4") == 0)
    for _ in 0..<2 { try await folder.tick(after: 7200) }
    try await expectOnce(5, in: folder)
  }

  /// A job that logs the same lines each day.
  @Test func `a new file with the content of a removed one is a new session`() async throws {
    let folder = try AttachedFolder("job.log*", idleEnd: 60)
    for day in 0..<2 {
      try folder.append("done\n", to: "job.log")
      try await folder.tick(after: 7200)
      try await folder.tick(after: 7200)
      #expect(try folder.sidecars().count == day + 1)
      try folder.remove("job.log")
      try await folder.tick(after: 7200)
      // The file's time is the system's, which does not advance for the test's clock.
      try rememberUntilNow(folder)
    }
  }

  private func rememberUntilNow(_ folder: AttachedFolder) throws {
    let files = try AttachedFiles(folder.site.local.home)
    for var file in try files.gone() {
      file.lose(at: ShiftedTime.machine.now())
      try files.save(file)
    }
  }

  // MARK: Compression

  @Test(arguments: [false, true])
  func `an idle log that grows and is compressed continues its session`(
    isRebuilt: Bool
  ) async throws {
    let folder = try AttachedFolder("app.log*", idleEnd: 3600)
    try folder.append(0..<10, to: "app.log")
    try await folder.tick()
    try await folder.tick(after: 7200)
    try await folder.expectSealed(1)
    try folder.append(10..<20, to: "app.log")
    #expect(try await folder.run("gzip app.log && mv app.log.gz app.log.1.gz") == 0)
    if isRebuilt { try rebuild(folder) }
    for _ in 0..<2 { try await folder.tick(after: 7200) }
    try await expectOnce(2, in: folder)
    try await folder.expectSealed(2)
    #expect(try folder.sidecars().compactMap(\.continues).count == 1)
    try rebuild(folder)
    try folder.rename("app.log.1.gz", to: "app.log.2.gz")
    #expect(try await folder.tick(after: 7200).changes.allSatisfy { $0.session != nil })
    try await expectOnce(2, in: folder)
  }

  @Test(arguments: [false, true])
  func `a compressed file beside its original is sent once`(isKnown: Bool) async throws {
    let folder = try AttachedFolder("app.log*")
    try folder.append(0..<10, to: "app.log")
    if isKnown { try await folder.tick() }
    try folder.rename("app.log", to: "app.log.1")
    #expect(try await folder.run("gzip -k app.log.1") == 0)
    for _ in 0..<2 { try await folder.tick() }
    try folder.remove("app.log.1")
    for _ in 0..<2 { try await folder.tick() }
    try await expectOnce(1, in: folder)
  }

  // MARK: Losses

  /// Makes an event when a file or folder is read.
  private final class Interruption: FileEffects {
    private let inode: UInt64
    private let left: Guarded<Int>
    private let body: @Sendable () -> Void

    init(of path: String, times: Int, _ body: @escaping @Sendable () -> Void) throws {
      inode = try FileStatus(path)?.inode ?? 0
      left = Guarded(times)
      self.body = body
    }

    func perform(_ effect: FileEffect, _ body: () -> Int) -> Int { body() }
    func random() -> UInt64 { .random(in: 0 ... .max) }

    func status(_ status: FileStatus) -> FileStatus {
      if status.inode == inode,
        left.withLock({
          $0 -= 1; return $0 >= 0
        })
      {
        body()
      }
      return ShiftedTime.shown(status)
    }
  }

  /// A log is moved to another folder after that was read, and before its own is.
  @Test func `a file is considered lost only after a second scan`() async throws {
    let folder = try AttachedFolder("old/app.log*", "app.log")
    #expect(try await folder.run("mkdir old") == 0)
    try folder.append(0..<10, to: "app.log")
    try await folder.tick()
    try folder.append(10..<20, to: "app.log")
    let (from, to) = (folder.file("app.log"), folder.file("old/app.log.1"))
    let interruption = try Interruption(of: folder.path, times: 1) {
      try? FileManager.default.moveItem(atPath: from, toPath: to)
    }
    try await FileEffect.$hook.withValue(interruption) { _ = try await folder.tick() }
    for _ in 0..<2 { try await folder.tick() }
    #expect(try await folder.remoteLines() == [Array(0..<20)])
    #expect(try await folder.gaps().isEmpty)
  }

  /// Something is renamed at every observation.
  @Test func `a folder that keeps changing is left to the next pass`() async throws {
    let folder = try AttachedFolder("app.log*")
    try folder.append(0..<10, to: "app.log")
    try await folder.tick()
    try folder.append(10..<20, to: "app.log")
    try folder.append("", to: "app.log.9")
    try folder.append("", to: "noise")
    #expect(try await folder.run("mv app.log ../away") == 0)
    let (first, second) = (folder.file("noise"), folder.file("loud"))
    let interruption = try Interruption(of: folder.file("app.log.9"), times: 99) {
      let isFirst = FileManager.default.fileExists(atPath: first)
      try? FileManager.default.moveItem(
        atPath: isFirst ? first : second, toPath: isFirst ? second : first)
    }
    let attacher = try Attacher(folder.site.context(), sources: folder.sources)
    let plan = try FileEffect.$hook.withValue(interruption) { try attacher.plan() }
    #expect(plan.pass.since == .epoch && plan.changes.isEmpty)
    try attacher.execute(plan)
    #expect(try await folder.run("mv ../away app.log.1") == 0)
    for _ in 0..<2 { try await folder.tick() }
    #expect(try await folder.remoteLines() == [Array(0..<20)])
    #expect(try await folder.gaps().isEmpty)
  }

  // MARK: Devices

  @Test(arguments: [false, true])
  func `after a lost device record, attached files are sent whole`(isRotated: Bool) async throws {
    var folder = try AttachedFolder("app.log*")
    try folder.append(0..<10, to: "app.log")
    try await folder.tick()
    try folder.site.loseDevice()
    try folder.append(10..<20, to: "app.log")
    if isRotated { try rotate(folder) }
    for _ in 0..<2 { try await folder.tick() }
    #expect(try await folder.remoteLines() == [Array(0..<20)])
    try folder.append(20..<30, to: isRotated ? "app.log.1" : "app.log")
    try await folder.tick()
    #expect(try await folder.remoteLines().flatMap { $0 } == Array(0..<30))
  }
}

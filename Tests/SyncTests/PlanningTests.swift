import Foundation
import Platform
import Replica
import SessionLog
import TestSupport
import Testing

@testable import Sync

/// Plans are made at any time, such as by `status` while an upload is under way.
@Suite(.shiftedTime, .tags(.medium)) struct PlanningTests {
  @Test func `a plan of an upload changes nothing`() async throws {
    let folder = try AttachedFolder("app.log")
    try folder.append(0..<10, to: "app.log")
    try await folder.tick()
    let home = folder.site.local.home
    let attached = try #require(try folder.sidecars().first?.sessionId)
    let recorded = try folder.site.local.session("x\n".utf8)
    try await folder.tick()
    #expect(try home.openSessions().isEmpty)
    // What passes that died may leave.
    for session in [attached, recorded] { try home.mark(session) }
    let files = TestFiles()
    let uploader = Uploader(try folder.site.context())
    let plan = try FileEffect.$hook.withValue(files) { try uploader.plan() }
    #expect(plan.items.isEmpty)
    let changes = files.effects.filter { !$0.path.hasSuffix(".lock") }
    #expect(changes.isEmpty, "\(changes)")
    #expect(try Set(home.openSessions()) == [attached, recorded])
    let report = try await uploader.execute(plan)
    #expect(report.failures.isEmpty)
    #expect(try home.openSessions().isEmpty)
  }

  /// Between two passes a file's name may have come to another one.
  @Test func `a plan leaves attached files that were not compared`() async throws {
    let folder = try AttachedFolder("app.log")
    try folder.append(0..<10, to: "app.log")
    try folder.tickWithoutStore()
    let attached = try #require(try folder.sidecars().first?.sessionId)
    let recorded = try folder.site.local.session("x\n".utf8)
    var plan = try Uploader(folder.site.context()).plan(.all)
    #expect(Set(plan.items.map(\.session)) == [attached, recorded])
    plan.leaveAttached(besides: [attached])
    #expect(plan.items.count == 2)
    plan.leaveAttached(besides: [recorded])
    #expect(plan.items.map(\.session) == [recorded])
  }

  /// Another process plans in the middle of a pass that unpacks a file.
  @Test func `a plan leaves what a pass has begun to it`() async throws {
    let folder = try AttachedFolder("app.log*")
    try folder.append(0..<2000, to: "app.log.1")
    #expect(try await folder.run("gzip app.log.1") == 0)
    let (context, sources) = (try folder.site.context(), folder.sources)
    let other: @Sendable () throws -> AttachPlan = {
      try Attacher(context, sources: sources).plan()
    }
    let planned = Guarded<Result<AttachPlan, any Error>?>(nil)
    let files = TestFiles(refusing: { effect in
      guard case .rename(let path) = effect.kind, path.hasSuffix(".log") else { return nil }
      let plan = FileEffect.$hook.withValue(ShiftedTime.current) { Result { try other() } }
      planned.withLock { $0 = plan }
      return nil
    })
    try await FileEffect.$hook.withValue(files) { _ = try await folder.tick() }
    #expect(try planned.withLock { $0 }?.get().changes.isEmpty == true)
    #expect(try await folder.problems().isEmpty)
    #expect(try folder.sidecars().count == 1)
    #expect(try await folder.remoteLines() == [Array(0..<2000)])
    // What a pass that died has begun is left to who gets its lock.
    try AttachedFiles(folder.site.local.home).distrust()
    _ = try other()
    #expect(try AttachedFiles(folder.site.local.home).pass().isDirty == false)
    #expect(try folder.sidecars().count == 1)
  }
}

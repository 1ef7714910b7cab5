import LogRecords
import ObjectStore
import Platform
import Redaction
import Replica
import SessionLog
import TestSupport
import Testing

@testable import Sync

/// Attached files that are removed while a pass's work on them is unfinished.
@Suite(.shiftedTime, .tags(.medium)) struct LostFileTests {
  @Test func `the line that reports a loss says how much the store turns out to have`() async throws
  {
    let folder = try AttachedFolder("app.log")
    try folder.append(0..<100, to: "app.log")
    // As for a pass that dies before it has the answer.
    folder.site.store.plan(.failAfter, on: "PUT", keyContaining: ".log.zst")
    try await folder.tick(isDisturbed: true)
    try folder.remove("app.log")
    for _ in 0..<3 { try await folder.tick(after: 7200) }
    #expect(try await folder.remoteLines() == [Array(0..<100)])
    let length = (0..<100).map { AttachedFolder.line($0).utf8.count }.reduce(0, +)
    let path = folder.file("app.log")
    #expect(
      try await folder.gaps() == [
        "[GAP ? bytes: \(path) was removed after byte \(length) was sent]"
      ])
    try await folder.expectSealed(1)
  }

  @Test(arguments: [nil, 5, 50] as [Int64?])
  func `a line that reports a loss is read as it was written`(missing: Int64?) {
    let line = LossLine(missing: missing, what: "/a after byte 7: b was removed", end: 9)
    let read = LossLine(log: line.log)
    #expect(read?.text == line.text)
    let left = missing == 50 ? "40" : "?"
    #expect(
      read?.moved(to: 19).text
        == "[GAP \(left) bytes: /a after byte 7: b was removed after byte 19 was sent]")
    #expect(LossLine(log: line.log + [0x78]) == nil && LossLine(log: []) == nil)
  }

  /// The sidecar does not have the generation of the redaction yet.
  @Test func `a redaction that dies between its records has not begun`() async throws {
    var folder = try AttachedFolder("app.log")
    let secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345"
    folder.site.redaction = RedactionRules(groups: [])
    try folder.append(0..<100, to: "app.log")
    try folder.append("key \(secret)\n", to: "app.log")
    try await folder.tick()
    let session = try #require(try folder.sidecars().first?.sessionId)
    folder.site.redaction = RedactionRules()
    let local = LocalSession(folder.site.local.home, session)
    let sidecar = try #require(try folder.sidecars().first)
    try local.record(
      [.init(from: 0, rules: folder.site.redaction.version())], generation: 2, keeping: [],
      replacing: local.redaction(sidecar) ?? [])
    try folder.append(100..<200, to: "app.log")
    for _ in 0..<2 { try await folder.tick(after: 7200) }
    #expect(try await folder.remoteLines() == [Array(0..<200)])
    // Repeated, it takes effect.
    let redaction = try RemoteRedaction(folder.site.context())
    try redaction.begin(#require(try await redaction.plan(session)))
    for _ in 0..<2 { try await folder.tick(after: 7200) }
    #expect(try await folder.remoteLines() == [Array(0..<200)])
    #expect(try await !folder.remote(session).contains(secret))
    #expect(try await redaction.plan(session) == nil)
  }

  @Test func `a redaction counts whose sidecar was put back`() async throws {
    var folder = try AttachedFolder("app.log")
    let secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345"
    folder.site.redaction = RedactionRules(groups: [])
    try folder.append("key \(secret)\n", to: "app.log")
    try await folder.tick()
    let former = try #require(try folder.sidecars().first)
    folder.site.redaction = RedactionRules()
    let redaction = try RemoteRedaction(folder.site.context())
    try redaction.begin(#require(try await redaction.plan(former.sessionId)))
    try await folder.tick(after: 7200)
    let local = LocalSession(folder.site.local.home, former.sessionId)
    try former.save(local.files.sidecar)
    let state = try local.loadUploadState(beside: former)
    #expect(state?.generation == 2)
    #expect(try state?.redaction?.first?.rules == folder.site.redaction.version())
  }

  /// What was sent stays as it was, and the seal does not claim the new rules.
  @Test(arguments: [false, true])
  func `a redaction that its file did not outlive is withdrawn`(losesCache: Bool) async throws {
    var folder = try AttachedFolder("app.log")
    let secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345"
    folder.site.redaction = RedactionRules(groups: [])
    let before = try folder.site.redaction.version()
    try folder.append(0..<100, to: "app.log")
    try folder.append("key \(secret)\n", to: "app.log")
    try await folder.tick()
    let session = try #require(try folder.sidecars().first?.sessionId)
    folder.site.redaction = RedactionRules()
    let redaction = try RemoteRedaction(folder.site.context())
    let item = try #require(try await redaction.plan(session))
    try redaction.begin(item)
    folder.site.store.plan(.failBefore(.conflict), on: "PUT", times: .max)
    try await folder.tick(isDisturbed: true)
    folder.site.store.forgetPlans()
    try folder.remove("app.log")
    if losesCache { try folder.loseCache() }
    for _ in 0..<3 { try await folder.tick(after: 7200) }
    try await folder.expectSealed(1)
    let sidecar = try #require(try folder.sidecars().first)
    #expect(sidecar.redaction?.first?.rules == before)
    let error = await #expect(throws: ReplicaError.self) { _ = try await redaction.plan(session) }
    #expect(error?.code == .missingBytes)
  }
}

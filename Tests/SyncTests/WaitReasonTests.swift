import Foundation
import LogRecords
import ObjectStore
import Platform
import Replica
import SessionLog
@testable import Sync
import TestSupport
import Testing

/// Each unsent byte has one reason.
@Suite(.tags(.medium)) struct WaitReasonTests {
  private func write(_ writer: SessionWriter, _ text: String) {
    Array(text.utf8).withUnsafeBytes { writer.capture($0, from: .standardOutput) }
  }

  /// Bytes not known to be in the store, from the logs and the listing.
  private func unsent(_ site: Site) async throws -> ByteCount {
    var sum: ByteCount = 0
    for session in try site.local.home.openSessions() {
      let length = ByteCount(try site.local.log(session).count)
      sum += max(0, length - (try await site.remote(session)).mark.byteCount)
    }
    return sum
  }

  @Test func `reasons add up to the unsent bytes`() async throws {
    let site = try Site()
    let writer = try site.local.writer()
    write(writer, "one\n")
    var waiting = try Uploader(site.context()).plan().waiting
    #expect(waiting.map(\.reason) == [.nextUpload])
    #expect(waiting.first?.bytes == (try await unsent(site)))
    try await site.upload()
    #expect(try Uploader(site.context()).plan().waiting.isEmpty)

    write(writer, "two\n-----BEGIN RSA PRIVATE KEY-----\nMIIEow\n")
    let other = try site.local.session(Array("other\n".utf8))
    site.store.plan(.failBefore(.conflict), on: "PUT", keyContaining: "\(other)")
    waiting = try Uploader(site.context()).plan().waiting
    #expect(Set(waiting.map(\.reason)) == [.nextUpload, .heldBackSecret])
    #expect(waiting.reduce(0) { $0 + $1.bytes } == (try await unsent(site)))

    let report = try await site.upload()
    #expect(Set(report.waiting.map(\.reason.code)) == ["held-back-secret", "refused"])
    #expect(report.waiting.reduce(0) { $0 + $1.bytes } == (try await unsent(site)))
    let plan = try Uploader(site.context()).plan()
    #expect(Set(plan.waiting.map(\.reason.code)) == ["held-back-secret", "refused"])
    #expect(plan.waitingBytes == (try await unsent(site)))
    #expect(WaitingSum.sums(of: plan.waiting).map(\.sessions) == [1, 1])
  }

  @Test func `a store that cannot be reached is the reason`() async throws {
    let site = try Site()
    let session = try site.local.session(Array("one\n".utf8))
    site.store.plan(.failBefore(.unreachable), on: "PUT", times: 9)
    site.store.plan(.failBefore(.unreachable), on: "LIST", times: 9)
    let report = try await site.upload()
    #expect(report.waiting.map(\.reason.code) == ["backoff"])
    let plan = try Uploader(site.context()).plan(.due)
    #expect(plan.waiting.map(\.session) == [session])
    #expect(plan.waiting.map(\.reason.code) == ["backoff"])
    #expect(plan.waitingBytes == ByteCount(try site.local.log(session).count))
  }

  @Test func `without consent or a store bytes wait as well`() async throws {
    var site = try Site()
    site.consent = .metadata
    let writer = try site.local.writer()
    write(writer, "one\n")
    for _ in 0..<2 {
      let plan = try Uploader(site.context()).plan()
      #expect(plan.waiting.map(\.reason) == [.consent])
      #expect(plan.waitingBytes == ByteCount(try site.local.log(writer.session).count))
      try await site.upload()
    }
    let disabled = try UploadPlan.withoutStore(site.local.home)
    #expect(disabled.map(\.reason) == [.disabled] && disabled.first?.session == writer.session)
  }

  @Test func `a session whose remote copy was deleted waits until it is released`() async throws {
    let site = try Site()
    let writer = try site.local.writer()
    write(writer, "one\n")
    try await site.upload()
    do {
      let lock = try #require(try HomeLock.acquire(site.local.home))
      let context = try site.context()
      let deletion = Deletion(
        home: context.home, context: context, lived: context.lived, command: "delete --remote")
      let outcomes = try await deletion.delete(
        writer.session, local: false, remote: site.remote(writer.session), holding: lock)
      #expect(outcomes.allSatisfy { $0.error == nil })
    }
    #expect(try await site.remote(writer.session).keys.isEmpty)

    write(writer, "two\n")
    _ = site.store.takeRequests()
    let report = try await site.upload(.all)
    #expect(site.store.takeRequests() == [])
    #expect(report.skipped.map(\.why) == [.withdrawn])
    #expect(report.waiting.map(\.reason) == [.withdrawn])

    let uploader = try Uploader(site.context())
    #expect(try uploader.waiting().withdrawn == [writer.session])
    do {
      let lock = try #require(try HomeLock.acquire(site.local.home))
      try uploader.retry(writer.session, holding: lock)
    }
    try await site.upload()
    #expect(try await site.remoteBytes(writer.session) == site.local.log(writer.session))
  }

  /// Failures after which a pass does not end with 0.
  private static let failures = StoreError.Code.allCases.filter {
    // One is a limit that the user set, the other the user's request.
    $0 != .exhausted && $0 != .cancelled
  }

  @Test(arguments: failures, ["PUT", "LIST"])
  func `after a failure the reason is known until a pass succeeds`(
    code: StoreError.Code, request: String
  ) async throws {
    let site = try Site()
    let session = try site.local.session(Array("one\n".utf8))
    site.store.plan(.failBefore(code), on: request, keyContaining: "", times: 99)
    let report = try await site.upload(.due)
    try #require(report.stoppedBy != nil || !report.failures.isEmpty)
    for pause in [0, 7 * 3600] as [Int64] {
      site.local.clock.advance(seconds: pause)
      let plan = try Uploader(site.context()).plan()
      let told = plan.waitingSinceLastPass.filter { $0.session == session }
      #expect(!told.isEmpty && told.allSatisfy { $0.reason.kind != .idle }, "\(told)")
      #expect(told.reduce(0) { $0 + $1.bytes } == plan.waitingBytes)
    }
  }

  @Test func `a log that cannot be sealed is a problem although every byte was sent`() async throws
  {
    let site = try Site()
    let writer = try site.local.writer()
    write(writer, "one\n")
    try await site.upload()
    try writer.end(.exit(0))
    site.store.plan(.failBefore(.conflict), on: "PUT", keyContaining: ".terminated.", times: 9)
    #expect(try await site.upload(.due).failures.count == 1)
    site.local.clock.advance(seconds: 7 * 3600)
    let plan = try Uploader(site.context()).plan()
    #expect(plan.items.count == 1 && plan.waitingBytes == 0)
    #expect(plan.waitingSinceLastPass.map(\.reason.kind) == [.problem])
  }

  @Test func `bytes that the store and this machine lost are named`() async throws {
    let site = try Site()
    let writer = try site.local.writer(rotateAt: 100)
    for line in 0..<8 { write(writer, "\(line) \(String(repeating: "a", count: 60))\n") }
    try await site.upload()
    let files = site.local.home.files(for: writer.session)
    let first = try #require(try files.parts().first)
    for path in [first.plain, first.compressed] { try File.remove(path) }
    let remote = try await site.remote(writer.session)
    let lost = try #require(remote.segments.first)
    _ = try await site.store.delete([remote.folder.key + lost.fileName])
    try writer.end(.exit(0))
    let report = try await site.upload()
    let text = "\(report.failures.map(\.error))"
    #expect(text.contains("\(first.plain), or") && text.contains(lost.fileName))
    #expect(!text.contains("pruned"))
  }
}

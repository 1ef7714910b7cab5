import ObjectStore
import Platform
import SessionLog
import TestSupport
import Testing

@testable import Sync

/// A pass that is interrupted in the middle of a long session.
@Suite(.tags(.medium)) struct InterruptedUploadTests {
  private static func text() -> [UInt8] {
    var generator = SeededGenerator(case: 1)
    return (0..<4000).flatMap { _ in
      Array("\(generator.next()) \(generator.next()) \(generator.next())\n".utf8)
    }
  }

  @Test func `bytes sent by an interrupted upload are not counted as unsent`() async throws {
    let site = try Site()
    // A store that accepts only small objects, so that the session needs several.
    try site.context().objectLimit.lower(after: 128 << 10)
    let session = try site.local.session(Self.text())
    let sent = Guarded<[ByteCount]>([])
    let uploader = Uploader(try site.context())
    do {
      let lock = try #require(try HomeLock.acquire(site.local.home))
      let store = site.store
      _ = try? await uploader.execute(uploader.plan(.all), holding: lock) { event in
        guard case .sent(_, let bytes, _) = event else { return }
        let count = sent.withLock { all in
          all.append(bytes)
          return all.count
        }
        if count == 2 { store.plan(.failBefore(.cancelled), on: "PUT", keyContaining: ".g1.") }
      }
    }
    #expect(site.store.forgetPlans().isEmpty)
    let known = sent.withLock { $0 }
    let length = ByteCount(try site.local.log(session).count)
    #expect(known.count == 2 && known.total > 0 && known.total < length)

    let plan = try Uploader(site.reopened().context()).plan(.due)
    #expect(plan.waitingBytes == length - known.total)
    // A preview and a progress bar count by this.
    #expect(plan.unsent == length - known.total && plan.items.map(\.sent) == [nil])
    try await site.upload()
    try await site.expectSealedAndEqual(session)
  }
}

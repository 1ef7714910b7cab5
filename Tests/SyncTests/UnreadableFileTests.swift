import Foundation
import Platform
import SessionLog
import TestSupport
import Testing

@testable import Sync

/// Attached files whose bytes wait because nobody can read them.
@Suite(.shiftedTime, .tags(.medium)) struct UnreadableFileTests {
  private func waiting(_ folder: AttachedFolder) throws -> [WaitingSum] {
    let context = try folder.site.context()
    let attacher = try Attacher(context, sources: folder.sources)
    let upload = try Uploader(context).plan()
    return upload.sumsSinceLastPass(try attacher.growth(attacher.plan(), besides: upload))
  }

  @Test func `unreadable files wait for as long as they are there`() async throws {
    let folder = try AttachedFolder("*.log*")
    // A folder that is not there has no bytes.
    let missing = try #require(SourcePattern("\(folder.path)/missing/*"))
    var sources = folder.sources
    sources.append(LogSource(path: missing))
    var every = folder
    every.sources = sources
    try folder.append("0123456789", to: "a.log.xz")
    try folder.append("not gzip", to: "b.log.gz")
    try folder.append(0..<10, to: "c.log")
    for _ in 0..<3 {
      try await every.tick(after: 60)
      let waiting = try waiting(every)
      #expect(waiting.map(\.reason.code) == ["unreadable"], "\(waiting)")
      #expect(waiting.first?.reason.kind == .problem)
      #expect(waiting.first?.sessions == 2 && waiting.first?.bytes == 18)
      let attacher = try Attacher(folder.site.context(), sources: sources)
      #expect(try attacher.unreadable().count == 2)
    }
    for name in ["a.log.xz", "b.log.gz"] { try folder.remove(name) }
    try await every.tick(after: 60)
    #expect(try waiting(every).isEmpty)
    #expect(try Attacher(folder.site.context(), sources: sources).unreadable().isEmpty)
  }
}

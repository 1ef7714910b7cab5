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

  @Test func `a log whose name is not UTF-8 is named for as long as it is there`() async throws {
    let folder = try AttachedFolder("*.log")
    #expect(try await folder.run("echo line >$(printf 'a\\377.log')") == 0)
    for _ in 0..<3 {
      try await folder.tick(after: 60)
      #expect(try Attacher(folder.site.context(), sources: folder.sources).unreadable().count == 1)
    }
    #expect(try await folder.run("rm a*.log") == 0)
    try await folder.tick(after: 60)
    #expect(try Attacher(folder.site.context(), sources: folder.sources).unreadable().isEmpty)
  }

  @Test func `a compressed log that was refused is not unpacked before it changes`() async throws {
    let folder = try AttachedFolder("app.log*")
    try await folder.tick()
    try folder.append(0..<50, to: "app.log.1")
    #expect(try await folder.run("gzip app.log.1") == 0)
    let path = folder.file("app.log.1.gz")
    let status = try #require(try FileStatus(path))
    // As a pass says it of a log that is too large.
    let refusal = SystemError(
      operation: "unpack", path: path, errno: SystemError.Number.overflow)
    let files = try AttachedFiles(folder.site.local.home)
    try files.refuse(path, status, UnpackLimit(), because: refusal)
    for _ in 0..<2 {
      try await folder.tick(after: 60)
      #expect(try folder.sidecars().isEmpty)
      #expect(try await folder.problems().keys.contains(path))
    }
    #expect(try await folder.run("touch app.log.1.gz") == 0)
    try await folder.tick(after: 60)
    #expect(try await folder.remoteLines() == [Array(0..<50)])
    #expect(try await folder.problems().isEmpty)
    #expect(try files.refusal(of: path, status, UnpackLimit()) == nil)
  }

  /// Two megabytes in two kilobytes.
  @Test func `a refusal of a compressed log is remembered with the limit`() async throws {
    var folder = try AttachedFolder("*")
    folder.sources[0].maxSize = 1_000_000
    #expect(try await folder.run("head -c 2000000 /dev/zero > a.log && gzip a.log") == 0)
    try await folder.tick(after: 60)
    let path = folder.file("a.log.gz")
    let status = try #require(try FileStatus(path))
    let files = try AttachedFiles(folder.site.local.home)
    let refusal = try files.refusal(of: path, status, UnpackLimit(maximum: 1_000_000))
    #expect(refusal?.errno == SystemError.Number.overflow)
    #expect(try files.refusal(of: path, status, UnpackLimit()) == nil)
  }
}

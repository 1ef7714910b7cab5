import Foundation
import LogRecords
import Platform
import Replica
import SessionLog
import Sync
import TestSupport
import Testing

/// Events of a log between two passes, which read all files or only changed ones.
@Suite(.serialized, .shiftedTime, .tags(.medium)) struct AttachTests {
  private static let steps: [Int64] = [0, 7200]

  @Test(arguments: steps)
  func `an attached log that grows is one session`(step: Int64) async throws {
    let folder = try AttachedFolder("app.log*")
    for tick in 0..<3 {
      try folder.append(tick * 10..<tick * 10 + 10, to: "app.log")
      try await folder.tick(after: step)
    }
    #expect(try await folder.remoteLines() == [Array(0..<30)])
    let sidecar = try #require(try folder.sidecars().first)
    #expect(sidecar.format == .asIs && sidecar.status == .active && sidecar.appName == "app")
    #expect(sidecar.fileName == folder.file("app.log"))
  }

  @Test func `a pass without new bytes makes no requests`() async throws {
    let folder = try AttachedFolder("**")
    for name in ["a.log", "b.log"] { try folder.append(0..<3, to: name) }
    try await folder.tick()
    _ = folder.site.store.takeRequests()
    #expect(try await folder.tick().descriptions.isEmpty)
    #expect(try await folder.tick(after: 60).descriptions.isEmpty)
    #expect(try await folder.tick(after: 7200).descriptions.isEmpty)
    #expect(folder.site.store.takeRequests() == [])
  }

  @Test(arguments: steps)
  func `a renamed log ends its session, and a new file begins another`(step: Int64) async throws {
    let folder = try AttachedFolder("app.log*")
    try folder.append(0..<10, to: "app.log")
    try await folder.tick(after: step)
    try folder.append(10..<12, to: "app.log")
    try folder.rename("app.log", to: "app.log.1")
    // A writer that has not reopened its log yet continues in the renamed one.
    try folder.append(12..<14, to: "app.log.1")
    try folder.append(100..<110, to: "app.log")
    try await folder.tick(after: step)
    try folder.append(14..<15, to: "app.log.1")
    try await folder.tick(after: step)
    try await folder.tick(after: step)
    #expect(try await folder.remoteLines() == [Array(0..<15), Array(100..<110)])
    let sidecars = try folder.sidecars()
    #expect(sidecars.count { $0.cause == .file(.rotated) } == 1)
    try await folder.expectSealed(1)
  }

  @Test(arguments: steps)
  func `a log that is copied and truncated loses no lines`(step: Int64) async throws {
    let folder = try AttachedFolder("app.log*")
    try folder.append(0..<10, to: "app.log")
    try await folder.tick(after: step)
    try folder.append(10..<20, to: "app.log")
    try folder.copy("app.log", to: "app.log.1")
    try folder.truncate("app.log")
    try folder.append(100..<103, to: "app.log")
    try await folder.tick(after: step)
    try await folder.tick(after: step)
    #expect(try await folder.remoteLines() == [Array(0..<20), Array(100..<103)])
    #expect(try await folder.gaps().isEmpty)
  }

  /// A file that outgrows its old length before the next pass is distinguished from growth by its
  /// content.
  @Test(arguments: steps)
  func `a log truncated and grown beyond its old length leaves a GAP`(step: Int64) async throws {
    let folder = try AttachedFolder("app.log")
    try folder.append(0..<10, to: "app.log")
    try await folder.tick(after: step)
    try folder.append(10..<15, to: "app.log")
    try folder.truncate("app.log")
    try folder.append(100..<150, to: "app.log")
    try await folder.tick(after: step)
    #expect(try await folder.remoteLines() == [Array(0..<10), Array(100..<150)])
    let gaps = try await folder.gaps()
    #expect(gaps.count == 1 && gaps[0].contains("was truncated after byte"))
  }

  @Test(arguments: steps)
  func `a truncated log ends its session, even while it is empty`(step: Int64) async throws {
    let folder = try AttachedFolder("app.log")
    try folder.append(0..<10, to: "app.log")
    try await folder.tick(after: step)
    try folder.truncate("app.log")
    try await folder.tick(after: step)
    try folder.append(50..<60, to: "app.log")
    try await folder.tick(after: step)
    #expect(try await folder.remoteLines() == [Array(0..<10), Array(50..<60)])
    try await folder.expectSealed(1)
  }

  @Test(arguments: steps) func `a removed log ends its session`(step: Int64) async throws {
    let folder = try AttachedFolder("app.log")
    try folder.append(0..<10, to: "app.log")
    try await folder.tick(after: step)
    try folder.remove("app.log")
    try await folder.tick(after: step)
    #expect(try await folder.remoteLines() == [Array(0..<10)])
    #expect(try folder.sidecars().map(\.cause) == [.file(.removed)])
    try await folder.expectSealed(1)
    // Its local record is deleted like any other's.
    #expect(try await folder.tick(after: step).descriptions.isEmpty)
  }

  @Test(arguments: [false, true])
  func `three rotations between two passes lose no lines`(copies: Bool) async throws {
    for pattern in ["app.log*", "app.log"] {
      let folder = try AttachedFolder(pattern)
      try folder.append(0..<10, to: "app.log")
      try await folder.tick()
      for rotation in 1...3 {
        try folder.append(rotation * 100 - 90..<rotation * 100 - 80, to: "app.log")
        for number in [2, 1] where folder.exists("app.log.\(number)") {
          try folder.rename("app.log.\(number)", to: "app.log.\(number + 1)")
        }
        if copies {
          try folder.copy("app.log", to: "app.log.1")
          try folder.truncate("app.log")
        } else {
          try folder.rename("app.log", to: "app.log.1")
        }
        try folder.append(rotation * 100..<rotation * 100 + 5, to: "app.log")
      }
      try await folder.tick()
      try await folder.tick()
      let expected = [
        Array(0..<20), Array(100..<105) + Array(110..<120), Array(200..<205) + Array(210..<220),
        Array(300..<305),
      ]
      #expect(try await folder.remoteLines() == expected, "\(pattern)")
      #expect(try await folder.gaps().isEmpty)
    }
  }

  /// A new file often gets the inode number of one just removed.
  @Test(arguments: steps)
  func `another file with the same inode is another session`(step: Int64) async throws {
    let folder = try AttachedFolder("*.log")
    try folder.append(0..<10, to: "a.log")
    try await folder.tick(after: step)
    // Overwriting in place certainly keeps the number.
    try folder.truncate("a.log")
    try folder.rename("a.log", to: "b.log")
    try folder.append(100..<140, to: "b.log")
    try await folder.tick(after: step)
    #expect(try await folder.remoteLines() == [Array(0..<10), Array(100..<140)])
  }

  @Test(arguments: steps) func `a restored backup is not sent again`(step: Int64) async throws {
    let folder = try AttachedFolder("app.log")
    try folder.append(0..<200, to: "app.log")
    try await folder.tick(after: step)
    try folder.copy("app.log", to: "backup")
    try folder.append(200..<300, to: "app.log")
    try await folder.tick(after: step)
    try folder.rename("backup", to: "app.log")
    try await folder.tick(after: step)
    try await folder.tick(after: step)
    try folder.append(500..<510, to: "app.log")
    try await folder.tick(after: step)
    // Bytes already sent are not sent again; those that the backup lacks are not withdrawn.
    #expect(try await folder.remoteLines() == [Array(0..<300), Array(500..<510)])
    let last = try #require(try folder.sidecars().last { $0.continues != nil })
    #expect(last.source?.base ?? 0 > 0)
  }

  @Test func `the length of a restored backup counts from its session's base`() async throws {
    let folder = try AttachedFolder("app.log", idleEnd: 86_400)
    try folder.append(0..<200, to: "app.log")
    try await folder.tick()
    try await folder.tick(after: 2 * 86_400)
    let first = try #require(try folder.sidecars().first).sessionId
    try folder.append(200..<300, to: "app.log")
    try await folder.tick(after: 7200)
    try folder.copy("app.log", to: "backup")
    try folder.append(300..<400, to: "app.log")
    try await folder.tick(after: 7200)
    try folder.rename("backup", to: "app.log")
    try await folder.tick(after: 7200)
    let second = try #require(try folder.sidecars().first { $0.sessionId != first })
    let known = try #require(try folder.known(second.sessionId))
    let size = try #require(try FileStatus(folder.file("app.log"))).length
    #expect(second.continues == first && known.base > 0)
    #expect(known.length.map { known.position(of: $0) } == size)
  }

  @Test(arguments: steps)
  func `files with the same head are separate sessions`(step: Int64) async throws {
    let folder = try AttachedFolder("*.log")
    for name in ["a.log", "b.log", "c.log"] { try folder.append(0..<200, to: name) }
    try await folder.tick(after: step)
    try folder.append(1000..<1010, to: "a.log")
    try folder.append(2000..<2010, to: "b.log")
    try folder.rename("b.log", to: "d.log")
    try await folder.tick(after: step)
    try folder.append(2010..<2020, to: "d.log")
    try await folder.tick(after: step)
    let tails = try await folder.remoteLines().map { $0.dropFirst(200) }.sorted {
      ($0.first ?? 0) < ($1.first ?? 0)
    }
    #expect(tails == [[], Array(1000..<1010), Array(2000..<2020)].map { $0[...] })
  }

  @Test(arguments: steps)
  func `an empty file becomes a session with its first byte`(step: Int64) async throws {
    let folder = try AttachedFolder("*.log")
    try folder.append("", to: "app.log")
    try await folder.tick(after: step)
    #expect(try folder.sidecars().isEmpty)
    try folder.append("x", to: "app.log")
    try await folder.tick(after: step)
    try folder.append("y\n", to: "app.log")
    try await folder.tick(after: step)
    #expect(try await folder.onlyRemote() == "xy\n")
  }

  /// Two megabytes in two kilobytes: nothing of a file that exceeds the limit is written.
  @Test(arguments: ["gzip", "zstd -q --rm"])
  func `a compressed file that expands beyond the limit is not unpacked`(
    program: String
  ) async throws {
    var folder = try AttachedFolder("*")
    folder.sources[0].maxSize = 1_000_000
    let ending = program == "gzip" ? "gz" : "zst"
    #expect(try await folder.run("head -c 2000000 /dev/zero > a.log && \(program) a.log") == 0)
    try await folder.tick(after: 10)
    #expect(try await folder.problems()[folder.file("a.log.\(ending)")]?.isEmpty == false)
    #expect(try folder.site.local.home.openSessions().isEmpty)
    #expect(try folder.site.local.home.sessionBytes() < 10_000)
    folder.sources[0].maxSize = 2_000_000
    try await folder.tick(after: 4000)
    #expect(try folder.site.local.home.sessionBytes() >= 2_000_000)
    #expect(try await folder.problems().isEmpty)
  }

  @Test(arguments: ["gzip", "zstd -q --rm"])
  func `a log compressed by rotation continues its session`(program: String) async throws {
    let folder = try AttachedFolder("app.log*")
    let ending = program == "gzip" ? "gz" : "zst"
    try folder.append(0..<2000, to: "app.log")
    try await folder.tick()
    try folder.append(2000..<2010, to: "app.log")
    try folder.rename("app.log", to: "app.log.1")
    #expect(try await folder.run("\(program) app.log.1") == 0)
    try folder.append(5000..<5001, to: "app.log")
    try await folder.tick()
    #expect(try await folder.remoteLines() == [Array(0..<2010), Array(5000..<5001)])
    // And later, when everything has been sent.
    try folder.rename("app.log.1.\(ending)", to: "app.log.2.\(ending)")
    try folder.rename("app.log", to: "app.log.1")
    try await folder.tick()
    try await folder.tick()
    try await folder.expectSealed(2)
    #expect(try await folder.run("\(program) app.log.1") == 0)
    try await folder.tick()
    try await folder.tick(after: 7200)
    #expect(try await folder.remoteLines() == [Array(0..<2010), Array(5000..<5001)])
  }

  @Test func `a compressed log not seen before is a session`() async throws {
    let folder = try AttachedFolder("app.log*")
    try folder.append(0..<5000, to: "app.log.1")
    #expect(try await folder.run("gzip -c app.log.1 > app.log.2.gz && rm app.log.1") == 0)
    try await folder.tick()
    #expect(try await folder.remoteLines() == [Array(0..<5000)])
    try await folder.expectSealed(1)
    #expect(try await folder.tick(after: 7200).descriptions.isEmpty)
  }

  @Test func `an incomplete compressed log is a problem until it is whole`() async throws {
    let folder = try AttachedFolder("app.log*")
    try folder.append(0..<5000, to: "app.log.1")
    #expect(
      try await folder.run("gzip -k app.log.1 && mv app.log.1 ../ && mv app.log.1.gz ../whole") == 0
    )
    #expect(try await folder.run("head -c 3000 ../whole > app.log.1.gz") == 0)
    let plan = try await folder.tick()
    #expect(try folder.sidecars().isEmpty)
    #expect(try await folder.problems().keys.contains(folder.file("app.log.1.gz")), "\(plan)")
    #expect(try await folder.run("cp ../whole app.log.1.gz") == 0)
    try await folder.tick()
    #expect(try await folder.remoteLines() == [Array(0..<5000)])
    #expect(try await folder.problems().isEmpty)
  }

  @Test func `an idle log ends its session, and later bytes continue it in another`() async throws {
    let folder = try AttachedFolder("app.log", idleEnd: 86_400)
    try folder.append(0..<10, to: "app.log")
    try await folder.tick()
    try await folder.tick(after: 2 * 86_400)
    #expect(try folder.sidecars().map(\.cause) == [.file(.idle)])
    try await folder.expectSealed(1)
    let first = try #require(try folder.sidecars().first)
    try folder.append(10..<20, to: "app.log")
    try await folder.tick(after: 7200)
    #expect(try await folder.remoteLines() == [Array(0..<10), Array(10..<20)])
    let second = try #require(try folder.sidecars().first { $0.sessionId != first.sessionId })
    #expect(second.continues == first.sessionId)
    #expect(second.source?.base == first.source?.length.map(Int64.init))
  }

  @Test func `old files are sent and ended in one pass`() async throws {
    let folder = try AttachedFolder("*.log", idleEnd: 86_400)
    for name in ["a.log", "b.log"] {
      try folder.append(0..<3, to: name)
      try folder.modified(name, ago: 30 * 86_400)
    }
    try await folder.tick()
    try await folder.expectSealed(2)
    let sidecars = try folder.sidecars()
    #expect(sidecars.allSatisfy { $0.cause == .file(.idle) })
    #expect(
      sidecars.allSatisfy {
        $0.startedAt.milliseconds < folder.site.local.clock.now().milliseconds - 29 * 86_400_000
      })
  }

  @Test func `hard links to one file are one session`() async throws {
    let folder = try AttachedFolder("*.log")
    try folder.append(0..<10, to: "a.log")
    #expect(try await folder.run("ln a.log b.log") == 0)
    try await folder.tick()
    try folder.append(10..<20, to: "b.log")
    try await folder.tick()
    try await folder.tick(after: 7200)
    #expect(try await folder.remoteLines() == [Array(0..<20)])
  }

  @Test func `symbolic links out of the root are followed only if allowed`() async throws {
    var folder = try AttachedFolder("in/**")
    #expect(
      try await folder.run(
        "mkdir in in/sub out && cd in && ln -s ../out out && ln -s sub again && ln -s ../out/b.log b.log"
      ) == 0)
    try folder.append(0..<3, to: "in/sub/a.log")
    try folder.append(10..<13, to: "out/b.log")
    try await folder.tick()
    #expect(try await folder.remoteLines() == [Array(0..<3)])
    folder.sources[0].followsLinks = true
    try await folder.tick()
    #expect(try await folder.remoteLines() == [Array(0..<3), Array(10..<13)])
  }

  @Test func `a path that could not be read is not read through a link later`() async throws {
    let folder = try AttachedFolder("in/**")
    #expect(try await folder.run("mkdir -p in/sub out && ln -s ../out in/linked") == 0)
    try folder.append(0..<3, to: "in/sub/a.log")
    try folder.append(10..<13, to: "out/b.log")
    try folder.recordProblem(at: "in/linked/b.log")
    try await folder.tick()
    #expect(try await folder.remoteLines() == [Array(0..<3)])
  }

  @Test func `globs select files, excludes omit them, and captures name the app`() async throws {
    var folder = try AttachedFolder("*/logs/*.log")
    folder.sources[0].exclude = ["debug*", folder.file("b/**")].compactMap { .init($0) }
    folder.sources[0].app = "$1-service"
    for name in ["a/logs/x.log", "a/logs/debug.log", "a/logs/x.txt", "b/logs/y.log", "c/z.log"] {
      #expect(try await folder.run("mkdir -p $(dirname \(name)) && echo 'line 1' > \(name)") == 0)
    }
    try await folder.tick()
    let sidecars = try folder.sidecars()
    #expect(sidecars.map(\.fileName) == [folder.file("a/logs/x.log")])
    #expect(sidecars.map(\.appName) == ["a-service"])
  }

  @Test func `a lost cache of attached files loses nothing`() async throws {
    let folder = try AttachedFolder("app.log*", idleEnd: 86_400)
    try folder.append(0..<10, to: "app.log")
    try folder.append(50..<60, to: "app.log.1")
    try folder.modified("app.log.1", ago: 3 * 86_400)
    try await folder.tick()
    try FileManager.default.removeItem(atPath: folder.site.local.home.cachePath)
    try folder.append(10..<20, to: "app.log")
    try await folder.tick()
    try FileManager.default.removeItem(atPath: folder.site.local.home.cachePath)
    try folder.rename("app.log.1", to: "app.log.2")
    try folder.rename("app.log", to: "app.log.1")
    try folder.append(100..<110, to: "app.log")
    try await folder.tick()
    try await folder.tick()
    #expect(try await folder.remoteLines() == [Array(0..<20), Array(50..<60), Array(100..<110)])
  }

  /// A pass that dies after any of its changes is repaired by the next.
  @Test func `the next pass completes one that died after any change`() async throws {
    for changes in 0..<4 {
      let folder = try AttachedFolder("app.log*")
      try folder.append(0..<10, to: "app.log")
      try await folder.tick()
      try folder.append(10..<20, to: "app.log")
      try folder.rename("app.log", to: "app.log.1")
      try folder.append(100..<110, to: "app.log")
      try folder.append(200..<210, to: "app.log.3")
      try await folder.dyingTick(after: changes)
      try await folder.tick()
      try await folder.tick()
      #expect(
        try await folder.remoteLines() == [Array(0..<20), Array(100..<110), Array(200..<210)],
        "died after \(changes)")
    }
  }

  @Test func `the next pass completes one that died before unpacking`() async throws {
    let folder = try AttachedFolder("app.log*")
    try folder.append(0..<5000, to: "app.log.1")
    #expect(try await folder.run("gzip app.log.1") == 0)
    try await folder.dyingTick(after: 1)
    let session = try #require(try folder.sidecars().first?.sessionId)
    try FileManager.default.removeItem(atPath: folder.site.local.home.files(for: session).log)
    try await folder.tick()
    #expect(try await folder.remoteLines() == [Array(0..<5000)])
    #expect(try folder.site.local.home.openSessions().isEmpty)
  }

  @Test func `verification compares an attached session with its file`() async throws {
    let folder = try AttachedFolder("app.log*", idleEnd: 86_400)
    try folder.append(0..<10, to: "app.log")
    try await folder.tick()
    try await folder.tick(after: 2 * 86_400)
    let session = try #require(try folder.sidecars().first?.sessionId)
    let finding = try await Verifier(folder.site.context()).verify(folder.site.remote(session))
    #expect(finding.problem == nil && finding.comparedLocally)
    #expect(FileManager.default.fileExists(atPath: folder.file("app.log")))
  }

  @Test func `start and end of an attached log come from its records`() async throws {
    let folder = try AttachedFolder("*.log*", idleEnd: 86_400)
    let text = (0..<200).map { "2026-01-02T03:04:\($0 / 10 + 10).000Z level=info n=\($0)\n" }
      .joined()
    try folder.append(text, to: "plain.log")
    try folder.append(text, to: "packed.log.1")
    try folder.append("nothing that is known\n", to: "unknown.log")
    #expect(try await folder.run("gzip packed.log.1") == 0)
    for name in ["plain.log", "packed.log.1.gz", "unknown.log"] {
      try folder.modified(name, ago: 3 * 86_400)
    }
    try await folder.tick()
    let sidecars = try folder.sidecars()
    let started = sidecars.map { "\($0.appName) \($0.startedAt)" }
    #expect(started.contains("plain 2026-01-02T03:04:10.000Z"), "\(started)")
    #expect(started.contains("packed 2026-01-02T03:04:10.000Z"), "\(started)")
    let plain = try #require(sidecars.first { $0.appName == "plain" })
    #expect(plain.endedAt == Timestamp(iso: "2026-01-02T03:04:29.000Z"))
    let unknown = try #require(sidecars.first { $0.appName == "unknown" })
    #expect(unknown.startedAt == unknown.endedAt)
  }

  @Test func `a session of which everything was sent needs no visit but is not sealed`()
    async throws
  {
    let folder = try AttachedFolder("app.log", idleEnd: 86_400)
    try folder.append(0..<10, to: "app.log")
    for _ in 0..<2 { try await folder.tick() }
    #expect(try folder.site.local.home.openSessions().isEmpty)
    #expect(try Uploader(folder.site.context()).sealedCopies().unsealed == 1)
    for _ in 0..<2 { try await folder.tick(after: 2 * 86_400) }
    #expect(try Uploader(folder.site.context()).sealedCopies().unsealed == 0)
  }
}

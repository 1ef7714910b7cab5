import Foundation
import Platform
import Replica
import SessionLog
import TestSupport
import Testing

@testable import Sync

/// Files that are rewritten with the same first and last bytes, as by a job without time stamps:
/// nothing of them is lost in silence.
@Suite(.shiftedTime, .tags(.medium)) struct SimilarFileTests {
  /// A job's log, longer than the bytes compared at each end.
  private static func job(_ night: String, steps: Int = 300, more: String = "") -> String {
    (1...steps).map { "step \($0): copying table ... ok\n" + ($0 == steps / 2 ? "\(night)\n" : "") }
      .joined() + more
  }

  enum How: CaseIterable { case inPlace, renamedOver }

  private func write(_ text: String, _ how: How = .inPlace, to folder: AttachedFolder) throws {
    switch how {
    case .inPlace:
      try folder.truncate("job.log")
      try folder.append(text, to: "job.log")
    case .renamedOver:
      try folder.append(text, to: "new")
      try folder.rename("new", to: "job.log")
    }
  }

  private func sealed() async throws -> AttachedFolder {
    let folder = try AttachedFolder("job.log*", idleEnd: 86_400)
    try folder.append(Self.job("NIGHT-1: ok"), to: "job.log")
    try await folder.tick()
    try await folder.tick(after: 2 * 86_400)
    try await folder.expectSealed(1)
    return folder
  }

  private func remotes(_ folder: AttachedFolder) async throws -> [String] {
    var texts: [String] = []
    for sidecar in try folder.sidecars() {
      texts.append(try await folder.remote(sidecar.sessionId))
    }
    return texts
  }

  /// Makes the home as an earlier version left it, after a boot.
  private func forget(_ folder: AttachedFolder) throws {
    try FileManager.default.removeItem(atPath: folder.site.local.home.cachePath)
    for var sidecar in try folder.sidecars() {
      sidecar.seal?.log = nil
      try sidecar.save(folder.site.local.home.files(for: sidecar.sessionId).sidecar)
    }
  }

  // MARK: Files that are gone

  /// Moved in from elsewhere, and written before the first one's loss was noticed.
  @Test(arguments: [false, true])
  func `a file like one that is gone is another`(isSealed: Bool) async throws {
    let folder = try isSealed ? await sealed() : AttachedFolder("job*.log")
    if isSealed {
      try folder.rename("job.log", to: "../job.old")
    } else {
      try folder.append(Self.job("NIGHT-1: ok"), to: "job.log")
      try await folder.tick()
      try folder.remove("job.log")
    }
    try folder.append(Self.job("NIGHT-2: no"), to: "../job-2.log")
    try await folder.tick(after: 7200)
    try await folder.tick(after: 7200)
    try folder.rename("../job-2.log", to: "job.log")
    try await folder.tick(after: 7200)
    // The one that is gone comes back.
    if isSealed { try folder.rename("../job.old", to: "job.log.1") }
    try await folder.tick(after: 7200)
    let texts = try await remotes(folder)
    #expect(texts.count == 2)
    #expect(texts.contains { $0.contains("NIGHT-1: ok") }, "\(texts)")
    #expect(texts.contains { $0 == Self.job("NIGHT-2: no") }, "\(texts)")
  }

  // MARK: Sealed sessions

  @Test(arguments: How.allCases, ["", "note: late\n"])
  func `a file rewritten after its seal is another session`(how: How, more: String) async throws {
    for isForgotten in [false, true] {
      let folder = try await sealed()
      let next = Self.job("NIGHT-2: KO", more: more)
      try write(next, how, to: folder)
      if isForgotten { try forget(folder) }
      for _ in 0..<2 { try await folder.tick(after: 7200) }
      #expect(try await Set(remotes(folder)) == [Self.job("NIGHT-1: ok"), next])
      #expect(try await folder.gaps().isEmpty)
      try await folder.expectSealed(2)
    }
  }

  @Test func `a file touched after its seal is the same`() async throws {
    let folder = try await sealed()
    for step in 0..<4 {
      switch step {
      case 0: try folder.modified("job.log", ago: 5)
      case 1: try write(Self.job("NIGHT-1: ok"), .renamedOver, to: folder)
      case 2: try folder.rename("job.log", to: "job.log.1")
      default: try forget(folder)
      }
      for _ in 0..<2 { try await folder.tick(after: 7200) }
      #expect(try folder.sidecars().count == 1, "\(step)")
    }
    try folder.append("more\n", to: "job.log.1")
    for _ in 0..<2 { try await folder.tick(after: 7200) }
    #expect(try await remotes(folder) == [Self.job("NIGHT-1: ok"), "more\n"])
  }

  @Test func `bytes before the first of a continued session count`() async throws {
    let folder = try await sealed()
    let more = Self.job("MORE", steps: 400)
    try folder.append(more, to: "job.log")
    for _ in 0..<2 { try await folder.tick(after: 7200) }
    try await folder.expectSealed(2)
    let next = Self.job("NIGHT-2: KO") + more
    try write(next, to: folder)
    for _ in 0..<2 { try await folder.tick(after: 7200) }
    #expect(try await remotes(folder) == [Self.job("NIGHT-1: ok"), more, next])
  }

  @Test func `a rewritten file does not repair the session sealed before`() async throws {
    let folder = try await sealed()
    let session = try #require(try folder.sidecars().first?.sessionId)
    let remote = try await folder.site.remote(session)
    let verifier = Verifier(try folder.site.context())
    #expect(try verifier.obstacle(to: remote) == nil)
    try write(Self.job("NIGHT-2: KO"), to: folder)
    #expect(try await verifier.verify(remote).problem != nil)
    #expect(try verifier.obstacle(to: remote)?.contains("was rewritten") == true)
    for _ in 0..<2 { try await folder.tick(after: 7200) }
    #expect(try await verifier.verify(remote).problem == nil)
    #expect(try await remotes(folder).last == Self.job("NIGHT-2: KO"))
  }

  @Test func `an import sends a rewritten file again`() async throws {
    let folder = try await sealed()
    let attacher = try Attacher(folder.site.context(), sources: folder.sources)
    #expect(try attacher.session(of: folder.file("job.log")) != nil)
    try write(Self.job("NIGHT-2: KO"), to: folder)
    #expect(try attacher.session(of: folder.file("job.log")) == nil)
  }

  // MARK: Open sessions

  @Test(arguments: How.allCases, ["", "note: late\n"])
  func `a file rewritten while its session is open is another session`(
    how: How, more: String
  ) async throws {
    let folder = try AttachedFolder("job.log")
    try folder.append(Self.job("NIGHT-1: ok"), to: "job.log")
    try await folder.tick()
    let next = Self.job("NIGHT-2: KO", more: more)
    try write(next, how, to: folder)
    for _ in 0..<2 { try await folder.tick(after: 60) }
    let texts = try await remotes(folder)
    #expect(texts.count == 2 && texts.last == next)
    #expect(texts.first?.hasPrefix(Self.job("NIGHT-1: ok")) == true)
    let gaps = try await folder.gaps()
    #expect(gaps.count == 1 && gaps[0].hasPrefix("[GAP ? bytes: "), "\(gaps)")
  }

  @Test func `a file rewritten and rotated between two passes is another session`() async throws {
    let folder = try AttachedFolder("job.log*")
    try folder.append(Self.job("NIGHT-1: ok"), to: "job.log")
    try await folder.tick()
    let next = Self.job("NIGHT-2: KO")
    try write(next, to: folder)
    try folder.rename("job.log", to: "job.log.1")
    for _ in 0..<2 { try await folder.tick(after: 60) }
    let texts = try await remotes(folder)
    #expect(texts.count == 2)
    #expect(texts.contains { $0.hasPrefix(Self.job("NIGHT-1: ok")) }, "\(texts)")
    #expect(texts.contains(next), "\(texts)")
  }

  @Test(arguments: ["gzip -q", "zstd -q --rm"])
  func `a file rewritten, rotated and compressed between two passes is another session`(
    command: String
  ) async throws {
    let folder = try AttachedFolder("job.log*")
    try folder.append(Self.job("NIGHT-1: ok"), to: "job.log")
    try await folder.tick()
    let next = Self.job("NIGHT-2: KO")
    try write(next, to: folder)
    try folder.rename("job.log", to: "job.log.1")
    #expect(try await folder.run("\(command) job.log.1") == 0)
    for seconds: Int64 in [60, 60, 7200] { try await folder.tick(after: seconds) }
    let texts = try await remotes(folder)
    #expect(texts.count == 2)
    #expect(texts.contains { $0.hasPrefix(Self.job("NIGHT-1: ok") + "\n[GAP ? ") }, "\(texts)")
    #expect(texts.contains(next), "\(texts)")
    try await folder.expectSealed(2)
  }

  @Test func `a file overwritten before it could be sent leaves a gap`() async throws {
    let folder = try AttachedFolder("*.log")
    let first = Self.job("NIGHT-1: ok")
    for name in ["job.log", "less.log"] { try folder.append(first, to: name) }
    try folder.tickWithoutStore()
    // A change of its rights is none of its content.
    #expect(try await folder.run("chmod 600 job.log") == 0)
    try folder.tickWithoutStore()
    #expect(try folder.sidecars().count == 2)
    let (next, less) = (Self.job("NIGHT-2: KO"), Self.job("NIGHT-2"))
    try write(next, to: folder)
    try folder.modified("job.log", ago: -3)
    try folder.truncate("less.log")
    try folder.append(less, to: "less.log")
    for _ in 0..<2 { try await folder.tick(after: 60) }
    let texts = try await remotes(folder)
    #expect(texts.contains(next) && texts.contains(less))
    let gaps = try await folder.gaps()
    #expect(gaps.count == 2, "\(gaps)")
    #expect(
      gaps.contains { $0.contains("? bytes") && $0.contains("rewritten after byte 0 was sent") })
    #expect(gaps.contains { $0.contains("[GAP \(first.utf8.count) bytes") })
  }

  @Test func `a file that is touched after the upload's cache was lost is sent once`() async throws
  {
    let folder = try AttachedFolder("app.log")
    try folder.append(0..<10, to: "app.log")
    for _ in 0..<2 { try await folder.tick() }
    #expect(try await folder.run("rm \(folder.site.local.home.cachePath)/manifest.sqlite*") == 0)
    try folder.modified("app.log", ago: -3)
    for _ in 0..<2 { try await folder.tick(after: 60) }
    #expect(try await folder.remoteLines() == [Array(0..<10)])
    #expect(try await folder.gaps().isEmpty)
    #expect(try folder.sidecars().count == 1)
  }

  @Test func `the copy of a file truncated and grown again ends its session`() async throws {
    let folder = try AttachedFolder("job.log*")
    try folder.append(Self.job("NIGHT-1: ok"), to: "job.log")
    try await folder.tick()
    try folder.append("end\n", to: "job.log")
    try folder.copy("job.log", to: "job.log.1")
    let next = Self.job("NIGHT-2: KO", more: Self.job("NIGHT-3: ok"))
    try write(next, to: folder)
    for _ in 0..<2 { try await folder.tick(after: 60) }
    #expect(try await remotes(folder) == [Self.job("NIGHT-1: ok", more: "end\n"), next])
    #expect(try await folder.gaps().isEmpty)
  }

  /// Too long for the sample that a pass reads.
  @Test func `a file that an upload finds rewritten is another session`() async throws {
    let folder = try AttachedFolder("job.log")
    let steps = 20_000
    try folder.append(Self.job("NIGHT-1: ok", steps: steps), to: "job.log")
    try await folder.tick()
    try FileManager.default.removeItem(atPath: folder.site.local.home.cachePath)
    let next = Self.job("NIGHT-2: KO", steps: steps, more: "note: late\n")
    try write(next, to: folder)
    await #expect(throws: ReplicaError.self) { try await folder.tick(after: 60) }
    for _ in 0..<3 { try await folder.tick(after: 60) }
    let texts = try await remotes(folder)
    #expect(texts.count == 2 && texts.last == next)
    #expect(texts.first?.hasPrefix(Self.job("NIGHT-1: ok", steps: steps)) == true)
    #expect(try await folder.gaps().count == 1)
    #expect(try await folder.problems().isEmpty)
  }
}

import Foundation
import Platform
import SessionLog
import TestSupport
import Testing

@testable import Sync

/// Single failing changes to the home while files are attached: no line is sent twice or lost.
@Suite(.shiftedTime, .tags(.medium)) struct FailingChangeTests {
  private let folder: AttachedFolder

  init() async throws {
    folder = try AttachedFolder("*.log*", idleEnd: 100 * 86_400)
    try folder.append(0..<20, to: "a.log")
    try await folder.tick()
  }

  /// A pass without the upload, of which some changes fail.
  private func tick(
    _ seed: Int = 0, refusing refusal: @escaping @Sendable (FileEffect) -> Int32?
  ) async throws {
    // Random numbers name sessions, too.
    let files = TestFiles(seed: seed, refusing: refusal)
    try await Parallelism.$isSequential.withValue(true) {
      try await FileEffect.$hook.withValue(files) {
        await Task.yield()
        folder.site.local.clock.advance(seconds: 7200)
        try folder.tickWithoutStore()
      }
    }
  }

  private func expectEachLineOnce(_ count: Int, _ comment: Comment) async throws {
    for _ in 0..<2 { try await folder.tick(after: 7200) }
    let lines = try await folder.remoteLines().flatMap(\.self).sorted()
    #expect(lines == Array(0..<count), comment)
    #expect(try await folder.gaps().isEmpty, comment)
  }

  @Test func `a change that fails once is made again`() async throws {
    var (count, number, wasRefused) = (20, 0, true)
    while wasRefused {
      // A rotated log, a new one in its place, and another new one.
      try folder.append(count..<count + 5, to: "a.log")
      try folder.rename("a.log", to: "a.log.\(number)")
      try folder.append(count + 5..<count + 10, to: "a.log")
      try folder.append(count + 10..<count + 15, to: "b\(number).log")
      count += 15
      let position = Guarded(0)
      try? await tick(number) { [number] _ in
        position.withLock { position in
          position += 1
          return position == number + 1 ? EIO : nil
        }
      }
      wasRefused = position.withLock { $0 > number }
      try await folder.tick(after: 7200)
      number += 1
    }
    #expect(number > 20)
    try await expectEachLineOnce(count, "at the end")
  }

  @Test(arguments: [false, true])
  func `what a pass began with its cache in memory is known to the next`(
    isMarkRefused: Bool
  ) async throws {
    try folder.append(20..<40, to: "b.log")
    try? await tick { effect in
      if effect.kind == .transaction { return effect.path.hasSuffix("attached.sqlite") ? EIO : nil }
      return isMarkRefused && effect.path.contains("/cache/") ? EIO : nil
    }
    try await expectEachLineOnce(40, "")
  }

  /// A sidecar that cannot be read is not a missing one.
  @Test func `a cache is not rebuilt without a session that cannot be read`() async throws {
    let session = try #require(try folder.sidecars().first?.sessionId)
    let sidecar = folder.site.local.home.files(for: session).sidecar
    let content = try #require(FileManager.default.contents(atPath: sidecar))
    try folder.loseCache()
    // Opening it fails, as with a failing disk.
    try FileManager.default.removeItem(atPath: sidecar)
    try FileManager.default.createSymbolicLink(atPath: sidecar, withDestinationPath: sidecar)
    let attacher = try Attacher(folder.site.context(), sources: folder.sources)
    let problems = try attacher.execute(attacher.plan())
    #expect(problems.keys.contains(sidecar), "\(problems)")
    try FileManager.default.removeItem(atPath: sidecar)
    try content.write(to: URL(filePath: sidecar))
    try await expectEachLineOnce(20, "")
  }
}

import Foundation
import Platform
import SessionLog
import TestSupport
import Testing

@testable import Sync

/// The short form of the soak: rotations at every moment of passes, a third of which are killed,
/// with outages, deletions and lost caches between them; each line is in the store once.
@Suite(.serialized, .shiftedTime, .tags(.medium)) struct RotatingLogsTests {
  @Test(arguments: SeededGenerator.cases(100))
  func `every line of rotating logs is sent once`(number: Int) async throws {
    var random = SeededGenerator(case: 1000 + number)
    let idleEnd: Int64 = Bool.random(using: &random) ? 3600 : 10 * 86_400
    let folder = try AttachedFolder("*.log*", idleEnd: idleEnd)
    let logs = RotatingLogs(
      ["0.log", "1.log"], in: folder.path, clock: folder.site.local.clock, case: number)
    try await Parallelism.$isSequential.withValue(true) {
      try await FileEffect.$hook.withValue(logs) {
        for _ in 0..<30 { try await pass(folder, logs, &random) }
        logs.settle()
        for _ in 0..<4 { try await folder.tick(after: 7200) }
      }
    }
    let text = try await stored(folder)
    #expect(!text.contains("[GAP "))
    let lines = text.split(separator: "\n").compactMap { line in
      line.hasPrefix("line ") ? Int(line.split(separator: " ")[1]) : nil
    }
    let counts = lines.reduce(into: [:]) { $0[$1, default: 0] += 1 }
    #expect((0..<logs.lines).filter { counts[$0] == nil } == [], "missing")
    #expect(counts.filter { $0.value > 1 }.keys.sorted() == [], "twice")
  }

  private func pass(
    _ folder: AttachedFolder, _ logs: RotatingLogs, _ random: inout SeededGenerator
  ) async throws {
    folder.site.local.clock.advance(
      seconds: Int.random(in: 0..<10, using: &random) == 0
        ? 7200 : Int64.random(in: 0...90, using: &random))
    let isKilled = Int.random(in: 0..<3, using: &random) == 0
    logs.begin(lifetime: isKilled ? Int.random(in: 0..<120, using: &random) : nil)
    defer { logs.pause() }
    do {
      switch Int.random(in: 0..<20, using: &random) {
      case 0...2: try folder.tickWithoutStore()
      case 3...5: try await reap(folder)
      case 6:
        logs.pause()
        try folder.loseCache()
      default: try await folder.tick(isDisturbed: true)
      }
    } catch  where isKilled {}
  }

  private func reap(_ folder: AttachedFolder) async throws {
    folder.site.local.clock.advance(seconds: 2)
    let reaper = try LocalReaper(folder.site.context())
    var retention = Retention().asking(.seconds(1))
    retention.isForced = true
    _ = try reaper.execute(try await reaper.plan(retention))
  }

  /// The store's copies of all sessions.
  private func stored(_ folder: AttachedFolder) async throws -> String {
    let store = folder.site.local.folder + "/store"
    let names = FileManager.default.enumerator(atPath: store)?.compactMap { $0 as? String } ?? []
    let sessions = Set(
      names.compactMap { SessionID(String($0.split(separator: "/").last?.prefix(25) ?? "")) })
    var text = ""
    for session in sessions.sorted() { text += try await folder.remote(session) + "\n" }
    return text
  }
}

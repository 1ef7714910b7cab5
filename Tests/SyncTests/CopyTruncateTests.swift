import Foundation
import Platform
import SessionLog
import TestSupport
import Testing

@testable import Sync

/// Rotation by copying and truncating, a step of which occurs at any moment of a pass.
@Suite(.shiftedTime, .tags(.medium)) struct CopyTruncateTests {
  /// A step of a rotation, after a pass has seen a number of file statuses.
  private struct Step: Sendable {
    let at: Int
    let run: @Sendable () throws -> Void
  }

  /// Runs steps after a pass has seen certain numbers of file statuses.
  private final class Steps: FileEffects {
    private let steps: [Step]
    private let count = Guarded(0)

    init(_ steps: [Step]) { self.steps = steps }

    /// When the first step is due.
    var first: Int { steps.first?.at ?? 0 }

    /// Number of statuses that the pass has seen.
    var seen: Int { count.withLock { $0 } }

    func perform(_ effect: FileEffect, _ body: () -> Int) -> Int { body() }
    func random() -> UInt64 { .random(in: 0 ... .max) }

    func status(_ status: FileStatus) -> FileStatus {
      let number = count.withLock { count in
        count += 1
        return count - 1
      }
      for step in steps where step.at == number { try? step.run() }
      return ShiftedTime.shown(status)
    }

    /// Runs the steps that the pass did not reach.
    func finish() throws { for step in steps where step.at >= seen { try step.run() } }
  }

  /// What is known of a log before its rotation.
  enum Known: CaseIterable { case nothing, open, idle }

  /// A log with 420 lines; unless nothing is known of it, the first 200 have been sent.
  private func folder(_ known: Known) async throws -> AttachedFolder {
    let isIdle = known == .idle
    let folder = try AttachedFolder("app.log*", idleEnd: isIdle ? 1 : 86_400)
    try folder.append(0..<200, to: "app.log")
    if isIdle { try folder.modified("app.log", ago: 5) }
    if known != .nothing { try await folder.tick() }
    if isIdle {
      try await folder.tick(after: 2)
      #expect(try folder.sidecars().first?.endedAt != nil)
    }
    try folder.append(200..<420, to: "app.log")
    return folder
  }

  private static func truncate(_ path: String) throws {
    let handle = try FileHandle(forWritingTo: URL(filePath: path))
    try handle.truncate(atOffset: 0)
    try handle.close()
  }

  private func run(
    _ folder: AttachedFolder, _ steps: [Step],
    _ comment: Comment
  ) async throws -> Bool {
    let steps = Steps(steps)
    try await Parallelism.$isSequential.withValue(true) {
      try await FileEffect.$hook.withValue(steps) {
        await Task.yield()
        try folder.tickWithoutStore()
      }
    }
    let isReached = steps.seen > steps.first
    try steps.finish()
    try folder.append(420..<430, to: "app.log")
    try await folder.tick(after: 1, isDisturbed: true)
    try await folder.tick(after: 7200)
    let lines = try await folder.remoteLines()
    #expect(
      lines.flatMap(\.self) == Array(0..<430), "\(comment): \(lines.map { ($0.first, $0.count) })")
    #expect(try await folder.gaps().isEmpty, comment)
    return isReached
  }

  @Test(arguments: Known.allCases)
  func `a log truncated at any moment after its copy is sent once`(known: Known) async throws {
    for moment in 0..<500 {
      let folder = try await folder(known)
      try folder.copy("app.log", to: "app.log.1")
      let log = folder.file("app.log")
      let isReached = try await run(
        folder, [Step(at: moment) { try Self.truncate(log) }], "\(moment)")
      if !isReached { break }
    }
  }

  @Test(arguments: [1, .max], [Known.open, .nothing])
  func `a log is sent once whose copy is written at any moment`(
    pause: Int, known: Known
  ) async throws {
    for moment in stride(from: 0, to: 500, by: 2) {
      let folder = try await folder(known)
      let (log, copy) = (folder.file("app.log"), folder.file("app.log.1"))
      let content = try Data(contentsOf: URL(filePath: log))
      let isReached = try await run(
        folder,
        [
          Step(at: moment) { try content.prefix(5000).write(to: URL(filePath: copy)) },
          Step(at: pause == .max ? .max : moment + pause) {
            let handle = try FileHandle(forWritingTo: URL(filePath: copy))
            try handle.seekToEnd()
            try handle.write(contentsOf: content.dropFirst(5000))
            try handle.close()
            try Self.truncate(log)
          },
        ], "\(moment)")
      if !isReached { break }
    }
  }

  @Test func `a new log is sent once whose copy takes several passes`() async throws {
    let folder = try AttachedFolder("app.log*")
    try folder.append(0..<300, to: "app.log")
    let rest = try Data(contentsOf: URL(filePath: folder.file("app.log")))
    for start in stride(from: 0, to: rest.count, by: 5000) {
      let piece = rest.dropFirst(start).prefix(5000)
      try folder.append(String(decoding: piece, as: UTF8.self), to: "app.log.1")
      try await folder.tick(isDisturbed: true)
    }
    try folder.truncate("app.log")
    try folder.append(300..<310, to: "app.log")
    for _ in 0..<2 { try await folder.tick(after: 7200) }
    #expect(try await folder.remoteLines().flatMap(\.self) == Array(0..<310))
    #expect(try await folder.gaps().isEmpty)
  }

  /// Who may write beside a log can make one, and change it all the time.
  @Test func `what another user calls a copy does not hold a log back`() async throws {
    let folder = try AttachedFolder("**")
    try folder.append(0..<10, to: "app.log")
    try await folder.tick()
    #expect(try await folder.run("mkdir sub") == 0)
    try folder.append("l", to: "sub/app.log.1")
    #expect(try await folder.run("cp sub/app.log.1 app.log.1; chown 65534 app.log.1 sub/*") == 0)
    try folder.append(10..<20, to: "app.log")
    try await folder.tick()
    #expect(try await folder.remoteLines().first == Array(0..<20))
  }

  /// No pattern leads to the name, and the same file is written over.
  @Test(arguments: ["cp app.log app.log.old", "gzip -c app.log >app.log.old.gz"])
  func `a log is sent whose copies have one name`(copy: String) async throws {
    let folder = try AttachedFolder("*.log")
    for day in 0..<4 {
      try folder.append(day * 100..<day * 100 + 10, to: "app.log")
      for _ in 0..<2 { try await folder.tick(after: 7200) }
      try folder.append(day * 100 + 10..<day * 100 + 100, to: "app.log")
      #expect(try await folder.run("\(copy); : >app.log") == 0)
      try await folder.tick(after: 10)
    }
    for _ in 0..<2 { try await folder.tick(after: 7200) }
    #expect(try await folder.remoteLines() == (0..<4).map { Array($0 * 100..<$0 * 100 + 100) })
    #expect(try await folder.gaps().isEmpty)
  }

  /// As logrotate's `copy` makes them.
  @Test func `copies of a log that goes on are not sent`() async throws {
    let folder = try AttachedFolder("**")
    for day in 0..<3 {
      try folder.append(day * 200..<day * 200 + 100, to: "app.log")
      for _ in 0..<2 { try await folder.tick(after: 7200) }
      #expect(try await folder.run("cp app.log app.log-2026010\(day)") == 0)
      try folder.append(day * 200 + 100..<day * 200 + 200, to: "app.log")
      for _ in 0..<2 { try await folder.tick(after: 7200) }
    }
    #expect(try await folder.remoteLines() == [Array(0..<600)])
  }

  @Test func `a copy with a time far ahead does not hold its original back`() async throws {
    let folder = try AttachedFolder("app.log")
    try folder.append("# a heading\n", to: "app.log")
    #expect(try await folder.run("cp app.log app.log.1") == 0)
    try folder.append(0..<5, to: "app.log")
    // The clock was ahead when the files were written, and is right from now on.
    try await folder.tick(after: -8 * 86_400)
    try folder.append(5..<9, to: "app.log")
    try await folder.tick(after: 60)
    #expect(try await folder.remoteLines().flatMap(\.self) == Array(0..<9))
  }
}

import Foundation
import Platform
import SessionLog
import TestSupport
import Testing

@testable import Sync

/// Compressed logs that resemble each other: the same name, the same beginning.
@Suite(.shiftedTime, .tags(.medium)) struct CompressedLogTests {
  /// A day's log, and what compresses it.
  private func rotate(
    _ folder: AttachedFolder, _ lines: Range<Int>, heading: String = "",
    by command: String = "gzip", from log: String = "app.log", to name: String = "app.log.1"
  ) async throws {
    try folder.append(heading, to: log)
    try folder.append(lines, to: log)
    let ending = command == "gzip" ? "gz" : "zst"
    let script = "rm -f \(name).\(ending) && \(command) -c \(log) >\(name).\(ending) && rm \(log)"
    #expect(try await folder.run(script) == 0)
  }

  private static let headings = [
    "", "# a heading\n", String(repeating: "# a long heading\n", count: 300),
  ]

  @Test(arguments: headings, ["gzip", "zstd -q"])
  func `a log that is rotated after a day without lines is sent`(
    heading: String, command: String
  ) async throws {
    let folder = try AttachedFolder("app.log*")
    let days = [0..<0, 0..<5, 5..<5, 5..<20, 20..<21]
    for day in days {
      try await rotate(folder, day, heading: heading, by: command)
      try await folder.tick(after: 7200)
    }
    for _ in 0..<2 { try await folder.tick(after: 7200) }
    #expect(try await folder.remoteLines().flatMap(\.self) == Array(0..<21))
    #expect(try await folder.gaps().isEmpty)
  }

  /// As with `rotate 2`.
  @Test(arguments: headings) func `a chain of logs with the same heading is sent`(
    heading: String
  ) async throws {
    let folder = try AttachedFolder("app.log*")
    for day in [0..<0, 0..<5, 5..<5, 5..<20, 20..<20, 20..<21] {
      #expect(try await folder.run("[ ! -e app.log.1.gz ] || mv app.log.1.gz app.log.2.gz") == 0)
      try await rotate(folder, day, heading: heading)
      try await folder.tick(after: 7200)
    }
    for _ in 0..<2 { try await folder.tick(after: 7200) }
    #expect(try await folder.remoteLines().flatMap(\.self) == Array(0..<21))
  }

  /// As with `copytruncate`, which leaves an empty log.
  @Test func `an empty compressed log does not become the empty log`() async throws {
    let folder = try AttachedFolder("app.log*")
    var end = 0
    for count in [4, 0, 5, 6, 0, 0, 7, 8] {
      try folder.append(end..<end + count, to: "app.log")
      end += count
      let script =
        "[ ! -e app.log.1.gz ] || mv app.log.1.gz app.log.2.gz; gzip -c app.log >app.log.1.gz"
      #expect(try await folder.run("\(script); truncate -s 0 app.log") == 0)
      try await folder.tick(after: 7200)
    }
    for _ in 0..<2 { try await folder.tick(after: 7200) }
    #expect(try await folder.remoteLines().flatMap(\.self) == Array(0..<end))
  }

  @Test func `an empty compressed log is no other program's`() async throws {
    let folder = try AttachedFolder("app*")
    try await rotate(folder, 0..<0)
    try await folder.tick()
    #expect(try await folder.run("rm app.log.1.gz") == 0)
    try await rotate(folder, 0..<5, to: "app-worker.log")
    for _ in 0..<2 { try await folder.tick(after: 7200) }
    #expect(try await folder.remoteLines().flatMap(\.self) == Array(0..<5))
  }

  @Test(arguments: ["appended", "replaced"], [false, true])
  func `a compressed log that grows is sent once`(how: String, isRebuilt: Bool) async throws {
    let folder = try AttachedFolder("*")
    try folder.append(0..<10, to: "a.log")
    #expect(try await folder.run("gzip a.log") == 0)
    try await folder.tick()
    try await folder.expectSealed(1)
    if isRebuilt { try folder.loseCache() }
    try folder.append(10..<15, to: "b")
    let script =
      how == "appended"
      ? "gzip -c b >>a.log.gz; rm b" : "(zcat a.log.gz; cat b) | gzip >../c; rm b; mv ../c a.log.gz"
    #expect(try await folder.run(script) == 0)
    for _ in 0..<2 { try await folder.tick(after: 7200) }
    #expect(try await folder.remoteLines() == [Array(0..<10), Array(10..<15)])
  }

  @Test(arguments: ["truncate -s %16384", "printf garbage >>"])
  func `zeros after a compressed log are passed over, and other bytes reported`(command: String)
    async throws
  {
    let folder = try AttachedFolder("*")
    try folder.append(0..<900, to: "a.log")
    #expect(try await folder.run("gzip a.log && \(command) a.log.gz") == 0)
    for _ in 0..<2 { try await folder.tick() }
    let isRead = command.hasPrefix("truncate")
    #expect(try await folder.remoteLines() == (isRead ? [Array(0..<900)] : []))
    #expect(
      try await Array(folder.problems().values)
        == (isRead ? [] : ["cannot be unpacked: it is damaged, or not complete"]))
  }

  /// As when it is copied there slowly.
  @Test(arguments: [true, false])
  func `a rotated log is awaited while its compressed form may grow`(isDamaged: Bool) async throws {
    let folder = try AttachedFolder("*")
    try folder.append(0..<900, to: "a.log")
    try await folder.tick()
    try folder.append(900..<950, to: "a.log")
    #expect(
      try await folder.run(
        "gzip -c a.log >../whole.gz && rm a.log && head -c 1000 ../whole.gz >a.log.1.gz") == 0)
    try await folder.tick(after: 60)
    #expect(try await folder.run("head -c 2000 ../whole.gz >a.log.1.gz") == 0)
    for _ in 0..<2 { try await folder.tick(after: 60) }
    #expect(try folder.sidecars().map(\.status) == [.active])
    #expect(
      try await Array(folder.problems().values)
        == ["cannot be unpacked: it is damaged, or not complete"])
    if !isDamaged {
      #expect(try await folder.run("cp ../whole.gz a.log.1.gz") == 0)
    }
    for _ in 0..<2 { try await folder.tick(after: 4000) }
    #expect(try await folder.remoteLines() == [Array(0..<(isDamaged ? 900 : 950))])
    #expect(try folder.sidecars().allSatisfy { $0.status != .active })
  }

  @Test func `a member appended after a log was sent plain is sent`() async throws {
    let folder = try AttachedFolder("a.log*")
    try folder.append(0..<10, to: "a.log")
    try await folder.tick()
    #expect(try await folder.run("gzip a.log") == 0)
    for _ in 0..<2 { try await folder.tick(after: 60) }
    try folder.append(10..<15, to: "b")
    #expect(try await folder.run("gzip -c b >>a.log.gz; rm b") == 0)
    for _ in 0..<2 { try await folder.tick(after: 7200) }
    #expect(try await folder.remoteLines() == [Array(0..<10), Array(10..<15)])
  }

  /// A log of its heading alone was compressed while logs were withheld, and its metadata is not
  /// sent yet when another one takes its place.
  @Test(arguments: [false, true])
  func `a log that begins like a withheld one is sent`(isRenamed: Bool) async throws {
    var folder = try AttachedFolder("app.log*")
    folder.site.consent = .metadata
    try await rotate(folder, 0..<0, heading: Self.headings[1])
    try folder.tickWithoutStore()
    folder.site.consent = .logs
    #expect(try await folder.run("rm app.log.1.gz") == 0)
    let name = isRenamed ? "app.log.2" : "app.log.1"
    try await rotate(folder, 0..<5, heading: Self.headings[1], to: name)
    for _ in 0..<2 { try await folder.tick(after: 7200) }
    #expect(try await folder.remoteLines().flatMap(\.self) == Array(0..<5))
  }

  // MARK: A heading that is all a rebuilt cache knows of a log

  private func sealedWithoutCache(_ name: String) async throws -> AttachedFolder {
    let folder = try AttachedFolder("app.log*", idleEnd: 86_400)
    try folder.append(Self.headings[2], to: name)
    try folder.append(0..<5, to: name)
    try await folder.tick()
    try await folder.tick(after: 2 * 86_400)
    try await folder.expectSealed(1)
    try folder.loseCache()
    return folder
  }

  /// Makes unpacking for a comparison fail.
  private static let full = TestFiles { effect in
    if case .write = effect.kind, effect.path.contains(".unpacked") { ENOSPC } else { nil }
  }

  @Test func `an unfinished copy of a log is not a log of its own`() async throws {
    let folder = try await sealedWithoutCache("app.log")
    #expect(try await folder.run("head -c 5120 app.log >app.log.1") == 0)
    // The copy is being made now.
    try await folder.tick(after: -2 * 86_400)
    #expect(try folder.sidecars().count == 1)
    #expect(try await folder.run("cp app.log app.log.1; truncate -s 0 app.log") == 0)
    for _ in 0..<2 { try await folder.tick(after: 7200) }
    #expect(try await folder.remoteLines() == [Array(0..<5)])
  }

  @Test func `a compressed log is not taken for a copy of one that begins alike`() async throws {
    let folder = try await sealedWithoutCache("app.log")
    try await rotate(folder, 5..<12, heading: Self.headings[2], from: "../new", to: "app.log.1")
    for _ in 0..<2 { try await folder.tick(after: 7200) }
    #expect(try await folder.remoteLines().flatMap(\.self) == Array(0..<12))
  }

  /// The log that begins alike is still there, or is gone.
  @Test(arguments: [false, true])
  func `a compressed log that a full disk keeps from being compared waits`(isGone: Bool)
    async throws
  {
    let name = isGone ? "app.log.1" : "app.log"
    let folder = try await sealedWithoutCache(name)
    if isGone { try folder.remove(name) }
    try await rotate(folder, 5..<12, heading: Self.headings[2], from: "../new", to: "app.log.2")
    let plan = try await FileEffect.$hook.withValue(Self.full) {
      try await folder.tick(after: 7200)
    }
    #expect(try await folder.remoteLines().flatMap(\.self) == Array(0..<5))
    let reasons = plan.problems.values.compactMap(\.reason)
    #expect(reasons.allSatisfy { $0.contains("cannot be compared") })
    #expect(plan.problems.count == 1)
    for _ in 0..<2 { try await folder.tick(after: 60) }
    #expect(try await folder.remoteLines().flatMap(\.self) == Array(0..<12))
  }

  /// What was sent is unknown until it has been listed: then both are found to be different logs.
  @Test func `a log that took another one's place while the cache was lost is sent`() async throws {
    let folder = try AttachedFolder("app.log*")
    try folder.append(Self.headings[2], to: "app.log.1")
    try folder.append(0..<5, to: "app.log.1")
    try await folder.tick()
    try FileManager.default.removeItem(atPath: folder.site.local.home.cachePath)
    try folder.remove("app.log.1")
    try await rotate(folder, 5..<12, heading: Self.headings[2], from: "../new", to: "app.log.2")
    try await folder.tick(after: 60, isDisturbed: true)
    for _ in 0..<2 { try await folder.tick(after: 86_400) }
    #expect(try await folder.remoteLines().flatMap(\.self) == Array(5..<12))
    #expect(try folder.sidecars().first?.former?.map(\.generation) == [1])
  }
}

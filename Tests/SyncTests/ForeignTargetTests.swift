import Platform
import TestSupport
import Testing

@testable import Sync

/// Files of another user that begin like a log, where that log may have been moved.
@Suite(.shiftedTime, .tags(.medium)) struct ForeignTargetTests {
  private static let heading = String(repeating: "#field name type\n", count: 300)

  @Test func `files that begin like a log do not hide where it was moved`() async throws {
    let folder = try AttachedFolder("app/*.log", "other/*.log")
    #expect(try await folder.run("mkdir -p app/old other") == 0)
    try folder.append(Self.heading, to: "app/app.log")
    try folder.append(0..<10, to: "app/app.log")
    try await folder.tick()
    try folder.append(10..<20, to: "app/app.log")
    try folder.append(Self.heading, to: "other/app-0.log")
    try folder.append(100..<110, to: "other/app-0.log")
    #expect(
      try await folder.run(
        """
        for n in {1..40}; do cp other/app-0.log other/app-$n.log; done; chown 65534 other/*
        mv app/app.log app/old/app.log.1
        """) == 0)
    for _ in 0..<3 { try await folder.tick(after: 7200) }
    #expect(try await folder.remoteLines().first == Array(0..<20))
    #expect(try await folder.gaps().isEmpty)
  }

  @Test(arguments: ["true", "gzip app/app.log.1"])
  func `a rotated log is not taken for another user's removed copy of it`(
    compress: String
  ) async throws {
    let folder = try AttachedFolder("**")
    #expect(try await folder.run("mkdir app copies") == 0)
    try folder.append(Self.heading, to: "app/app.log")
    try folder.append(0..<10, to: "app/app.log")
    #expect(
      try await folder.run(
        "for n in {1..8}; do cp app/app.log copies/$n.log; done; chown 65534 copies/*") == 0)
    for _ in 0..<2 { try await folder.tick(after: 7200) }
    try folder.append(10..<20, to: "app/app.log")
    #expect(
      try await folder.run("rm copies/*; mv app/app.log app/app.log.1; \(compress)") == 0)
    for _ in 0..<3 { try await folder.tick(after: 7200) }
    let lines = try await folder.remoteLines()
    #expect(lines.count == 9 && lines.contains(Array(0..<20)))
  }

  @Test func `who moves a log to a shared folder makes no other user's file there one`()
    async throws
  {
    let folder = try AttachedFolder("*")
    try folder.append(0..<10, to: "notes.txt")
    #expect(try await folder.run("chown 65534 notes.txt && mkdir -m 1777 tmp") == 0)
    try await folder.tick()
    try folder.append(10..<20, to: "tmp/notes-1.txt")
    #expect(try await folder.run("mv notes.txt tmp/notes-3.txt") == 0)
    for _ in 0..<2 { try await folder.tick(after: 7200) }
    try folder.append(20..<30, to: "tmp/notes-4.txt")
    try folder.append(30..<40, to: "tmp/notes-5.txt")
    #expect(try await folder.run("chown 65534 tmp/notes-5.txt") == 0)
    for _ in 0..<3 { try await folder.tick(after: 7200) }
    #expect(try await folder.remoteLines() == [Array(0..<10), Array(30..<40)])
  }

  @Test func `what is compared whole is limited`() {
    let budget = ComparisonBudget()
    #expect(budget.take(3_000_000_000) && !budget.take(2_000_000_000) && budget.isLeft)
    budget.spend(2_000_000_000)
    #expect(!budget.isLeft && !budget.take(1))
    let samples = (0..<20).map { _ in budget.takeSample() }
    #expect(samples.first == ByteCount(64 << 20) && samples.last == SentBytes.sample)
  }
}

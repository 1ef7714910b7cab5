import Redaction
import Replica
import SessionLog
import TestSupport
import Testing

@testable import Sync

/// Logs that were rotated when the cache of attached files has to be rebuilt.
@Suite(.shiftedTime, .tags(.medium)) struct RebuiltCacheTests {
  @Test(
    arguments: ["mv app.log app.log.1", "cp app.log app.log.1; : >app.log", "gzip app.log"],
    [false, true])
  func `a log whose last sent bytes were masked is found`(
    rotate: String, isLost: Bool
  ) async throws {
    let folder = try Self.masked()
    try folder.append("heading\n", to: "app.log")
    try folder.append(0..<10, to: "app.log")
    try await folder.tick()
    if isLost {
      try folder.loseCache()
    } else {
      try AttachedFiles(folder.site.local.home).distrust()
    }
    try folder.append(10..<15, to: "app.log")
    #expect(try await folder.run(rotate) == 0)
    try folder.append("heading\n", to: "app.log")
    try folder.append(20..<25, to: "app.log")
    for _ in 0..<3 { try await folder.tick(after: 7200) }
    #expect(try await folder.remoteLines() == [Array(0..<15), Array(20..<25)])
    #expect(try await folder.gaps().isEmpty)
  }

  /// A folder whose lines are sent with something masked.
  private static func masked() throws -> AttachedFolder {
    var folder = try AttachedFolder("app.log*")
    folder.site.redaction = RedactionRules(
      own: [try RedactionRule(kind: "number", near: "line ", pattern: "abc")])
    return folder
  }

  @Test func `a masked log that was away is not sent again`() async throws {
    let folder = try Self.masked()
    try folder.append(0..<10, to: "app.log")
    try await folder.tick()
    #expect(try await folder.run("mv app.log ../away") == 0)
    for _ in 0..<2 { try await folder.tick(after: 7200) }
    #expect(try await folder.run("mv ../away app.log") == 0)
    for _ in 0..<2 { try await folder.tick(after: 7200) }
    #expect(try await folder.remoteLines() == [Array(0..<10)])
  }

  @Test func `a log that was short when it began is found by any name`() async throws {
    let folder = try AttachedFolder("app.log")
    try folder.append(0..<3, to: "app.log")
    try await folder.tick()
    try folder.append(3..<200, to: "app.log")
    try await folder.tick(after: 60)
    try folder.append(200..<205, to: "app.log")
    try AttachedFiles(folder.site.local.home).distrust()
    try folder.rename("app.log", to: "anything")
    for _ in 0..<3 { try await folder.tick(after: 7200) }
    #expect(try await folder.remoteLines() == [Array(0..<205)])
    #expect(try await folder.gaps().isEmpty)
  }
}

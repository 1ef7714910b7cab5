import Foundation
import Platform
import SessionLog
@testable import Sync
import TestSupport
import Testing

/// Imports that are repeated, after their process died between two changes to files or the file grew.
@Suite(.shiftedTime, .tags(.medium)) struct RepeatedImportTests {
  private func adopt(_ path: String, in folder: AttachedFolder) throws {
    let source = LogSource(path: try #require(SourcePattern(path)))
    try Attacher(folder.site.context(), sources: []).adopt(path, as: source)
  }

  @Test(arguments: [("app.log", false), ("app.log.gz", false), ("app.log.gz", true)])
  func `a file is sent once if its import is killed at any file change and repeated`(
    name: String, isUploadedBetween: Bool
  ) async throws {
    let packed = try AttachedFolder()
    try packed.append(0..<10, to: "app.log")
    if name.hasSuffix(".gz") { #expect(try await packed.run("gzip app.log") == 0) }
    let content = try Data(contentsOf: URL(filePath: packed.file(name)))
    for lifetime in 0... {
      let folder = try AttachedFolder()
      try folder.site.local.home.create()
      try content.write(to: URL(filePath: folder.file(name)))
      let files = TestFiles(lifetime: lifetime)
      FileEffect.$hook.withValue(files) { try? adopt(folder.file(name), in: folder) }
      if isUploadedBetween { try await folder.tick() }
      try adopt(folder.file(name), in: folder)
      // A marker without a log stays for an hour.
      for _ in 0..<2 { try await folder.tick(after: 7200) }
      #expect(try await folder.remoteLines() == [Array(0..<10)], "killed after \(lifetime)")
      #expect(try folder.sidecars().count == 1, "killed after \(lifetime)")
      #expect(try folder.site.local.home.openSessions() == [], "killed after \(lifetime)")
      guard files.isDead else { return #expect(lifetime > 10) }
    }
  }

  @Test(arguments: [10..<20, 0..<0, 20..<50])
  func `an imported file that is overwritten before it was sent leaves a gap`(
    lines: Range<Int>
  ) async throws {
    let folder = try AttachedFolder()
    try folder.site.local.home.create()
    try folder.append(0..<10, to: "app.log")
    try adopt(folder.file("app.log"), in: folder)
    try folder.truncate("app.log")
    try folder.append(lines, to: "app.log")
    for _ in 0..<2 { try await folder.tick(after: 60) }
    #expect(try await folder.gaps().count == 1)
    try await folder.expectSealed(1)
  }

  @Test(arguments: [false, true], [false, true])
  func `what a file got after an import that was not sent yet belongs to its session`(
    losesCache: Bool, isReplaced: Bool
  ) async throws {
    let folder = try AttachedFolder()
    try folder.site.local.home.create()
    try folder.append(0..<10, to: "app.log")
    try adopt(folder.file("app.log"), in: folder)
    if isReplaced { #expect(try await folder.run("cp app.log b; mv b app.log") == 0) }
    if losesCache { try folder.loseCache() }
    try folder.append(10..<15, to: "app.log")
    for _ in 0..<2 { try adopt(folder.file("app.log"), in: folder) }
    for _ in 0..<2 { try await folder.tick(after: 60) }
    #expect(try await folder.remoteLines() == [Array(0..<15)])
    try await folder.expectSealed(1)
  }

  @Test func `what a file got after an import that was withheld is sent`() async throws {
    var folder = try AttachedFolder()
    folder.site.consent = .metadata
    try folder.site.local.home.create()
    try folder.append(0..<10, to: "app.log")
    try adopt(folder.file("app.log"), in: folder)
    folder.site.consent = .logs
    try folder.append(10..<15, to: "app.log")
    try adopt(folder.file("app.log"), in: folder)
    for _ in 0..<2 { try await folder.tick(after: 60) }
    #expect(try await folder.remoteLines().flatMap(\.self) == Array(10..<15))
  }

  @Test(arguments: ["cat more >>app.log", "gzip <more >>app.log.gz"])
  func `what was appended to an imported file is imported as another session`(
    command: String
  ) async throws {
    let folder = try AttachedFolder()
    try folder.site.local.home.create()
    try folder.append(0..<10, to: "app.log")
    try folder.append(10..<15, to: "more")
    let name = command.contains("gzip") ? "app.log.gz" : "app.log"
    if name != "app.log" { #expect(try await folder.run("gzip app.log") == 0) }
    for _ in 0..<2 { try adopt(folder.file(name), in: folder) }
    #expect(try folder.sidecars().count == 1)
    try await folder.tick()
    #expect(try await folder.run(command) == 0)
    for _ in 0..<2 { try adopt(folder.file(name), in: folder) }
    for _ in 0..<2 { try await folder.tick(after: 60) }
    #expect(try await folder.remoteLines() == [Array(0..<10), Array(10..<15)])
  }
}

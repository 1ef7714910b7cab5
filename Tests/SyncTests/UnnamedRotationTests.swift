import Foundation
import Platform
import SessionLog
import TestSupport
import Testing

@testable import Sync

/// Rotated logs that no pattern names, as where `sources` says `*.log`.
@Suite(.shiftedTime, .tags(.medium)) struct UnnamedRotationTests {
  /// A log whose first line has been sent.
  private func folder() async throws -> AttachedFolder {
    let folder = try AttachedFolder("*.log")
    try folder.append(0..<1, to: "app.log")
    try await folder.tick()
    return folder
  }

  @Test(arguments: [false, true], 0..<5)
  func `several rotations before a pass that dies lose nothing`(
    isCompressed: Bool, count: Int
  ) async throws {
    let folder = try await folder()
    #expect(try await folder.run("mv app.log app.log.3") == 0)
    try folder.append(1..<2, to: "app.log.2")
    try folder.append(2..<3, to: "app.log.1")
    try folder.append(3..<4, to: "app.log")
    if isCompressed { #expect(try await folder.run("gzip app.log.2 app.log.3") == 0) }
    try await folder.dyingTick(after: count)
    for _ in 0..<2 { try await folder.tick(after: 60) }
    #expect(try await folder.remoteLines().flatMap(\.self) == Array(0..<4))
    #expect(try await folder.gaps().isEmpty)
  }

  @Test(arguments: ["old/app.log.1", "20261127-app.log", "old/app.old"])
  func `a log that is moved to another name, or into a folder beside it, is sent to its end`(
    name: String
  ) async throws {
    let folder = try AttachedFolder("app.log")
    try folder.append(0..<100, to: "app.log")
    try await folder.tick()
    try folder.append(100..<110, to: "app.log")
    #expect(try await folder.run("mkdir old; mv app.log \(name)") == 0)
    try folder.append(110..<120, to: "app.log")
    try await folder.tick(after: 7200)
    try folder.append(120..<121, to: name)
    for _ in 0..<2 { try await folder.tick(after: 7200) }
    #expect(try await folder.remoteLines().flatMap(\.self).sorted() == Array(0..<121))
    #expect(try await folder.gaps().isEmpty)
  }

  /// Only the heading of a table was sent, and its number is used again.
  @Test func `a file that begins like a removed one is not sent under any name`() async throws {
    let folder = try AttachedFolder("*.csv")
    try folder.append("time,user,amount\n", to: "out.csv")
    try await folder.tick()
    #expect(try await folder.run("mkdir private; mv out.csv private/salaries") == 0)
    try folder.append("1,alice,SECRET\n", to: "private/salaries")
    for _ in 0..<2 { try await folder.tick(after: 7200) }
    for sidecar in try folder.sidecars() {
      #expect(try await !folder.remote(sidecar.sessionId).contains("SECRET"))
    }
  }

  @Test func `a moved log that is overwritten before all was sent leaves a gap`() async throws {
    let folder = try AttachedFolder("*.log")
    try folder.append(0..<100, to: "app.log")
    try await folder.tick()
    try folder.rename("app.log", to: "app.1")
    try folder.append(100..<110, to: "app.1")
    try await folder.tick(after: 7200)
    try folder.append(110..<120, to: "app.1")
    try folder.append(500..<700, to: "other")
    #expect(try await folder.run("cat other >app.1; rm other") == 0)
    for _ in 0..<2 { try await folder.tick(after: 7200) }
    #expect(try await folder.gaps().count == 1)
    #expect(try folder.sidecars().allSatisfy { $0.status != .active })
  }

  @Test func `a compressed log that was not complete at the first pass is sent`() async throws {
    let folder = try await folder()
    #expect(try await folder.run("mv app.log app.log.2") == 0)
    try folder.append(1..<9, to: "app.log.1")
    #expect(
      try await folder.run("gzip app.log.1; head -c 40 app.log.1.gz >x; mv app.log.1.gz y") == 0)
    #expect(try await folder.run("mv x app.log.1.gz; touch app.log") == 0)
    try await folder.tick(after: 60, isDisturbed: true)
    #expect(try await folder.run("cat y >app.log.1.gz; rm y") == 0)
    for _ in 0..<2 { try await folder.tick(after: 60) }
    #expect(try await folder.remoteLines().flatMap(\.self) == Array(0..<9))
  }

  @Test func `lines of a program that goes on after the seal are sent`() async throws {
    let folder = try await folder()
    #expect(try await folder.run("mv app.log app.log.1; touch app.log") == 0)
    for _ in 0..<3 { try await folder.tick(after: 60) }
    try await folder.expectSealed(1)
    try folder.append(1..<2, to: "app.log.1")
    for _ in 0..<2 { try await folder.tick(after: 7200) }
    let lines = try await folder.remoteLines()
    #expect(lines == [[0], [1]])
  }

  @Test func `a rotated log that is cut before its rest was sent leaves a gap`() async throws {
    let folder = try await folder()
    try folder.append(1..<2, to: "app.log")
    #expect(try await folder.run("mv app.log app.log.1") == 0)
    try folder.tickWithoutStore()
    #expect(try await folder.run("truncate -s 3 app.log.1") == 0)
    for _ in 0..<2 { try await folder.tick(after: 7200) }
    #expect(try await folder.gaps().count == 1)
    #expect(try folder.sidecars().count { $0.seal != nil } == 1)
  }

  @Test func `rotations from before a log was attached are not sent`() async throws {
    let folder = try AttachedFolder("*.log")
    try folder.append(0..<1, to: "app.log.1")
    try folder.modified("app.log.1", ago: 9000)
    try folder.append(1..<2, to: "app.log")
    try folder.append(2..<3, to: "other.log.1")
    for _ in 0..<3 { try await folder.tick(after: 7200) }
    #expect(try await folder.remoteLines() == [[1]])
  }
}

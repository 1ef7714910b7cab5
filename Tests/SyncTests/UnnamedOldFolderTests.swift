import Foundation
import Platform
import SessionLog
import TestSupport
import Testing

@testable import Sync

/// Rotation into a folder that no pattern names, as by logrotate's `olddir` where `sources` says `*.log`.
@Suite(.shiftedTime, .tags(.medium)) struct UnnamedOldFolderTests {
  /// A way to rotate, as a shell function's body: `$1` is the log.
  enum Rotation: String, CaseIterable {
    case create = "chain $1 && mv $1 old/$1.1"
    case compress = "chain $1 && mv $1 old/$1.1 && gzip old/$1.1"
    case delayedCompress = "chain $1 && (! test -f old/$1.2 || gzip old/$1.2) && mv $1 old/$1.1"
    case copyTruncate = "chain $1 && cp $1 old/$1.1 && truncate -s 0 $1"
    case copyTruncateCompress = "chain $1 && cp $1 old/$1.1 && truncate -s 0 $1 && gzip old/$1.1"
    case dated = "n=$(ls old | wc -l) && mv $1 old/$1-2026010$n"
    case datedCompress = "n=$(ls old | wc -l) && mv $1 old/$1-2026010$n && gzip old/$1-2026010$n"

    /// The command that rotates a log.
    func command(_ log: String) -> String {
      let chain = """
        for n in 6 5 4 3 2 1; do for e in '' .gz; do
          if test -f old/$1.$n$e; then mv old/$1.$n$e old/$1.$((n + 1))$e; fi
        done; done
        """
      return "set -e; mkdir -p old; chain() { \(chain); }; rotate() { \(rawValue); }; rotate \(log)"
    }
  }

  /// - Parameters:
  ///   - count: lines between two rotations; few are less than a head.
  ///   - ticks: passes between two rotations.
  @Test(arguments: Rotation.allCases, [(5, 1), (200, 1), (200, 2), (5, 2)])
  func `every line of a log that is rotated again and again is sent once`(
    rotation: Rotation, _ size: (count: Int, ticks: Int)
  ) async throws {
    let folder = try AttachedFolder("*.log")
    var next = 0
    func write(_ count: Int) throws {
      try folder.append(next..<next + count, to: "app.log")
      next += count
    }
    for _ in 0..<4 {
      try write(size.count)
      try await folder.tick(after: 7200)
      try write(size.count)
      for _ in 1..<size.ticks { try await folder.tick(after: 7200) }
      #expect(try await folder.run(rotation.command("app.log")) == 0)
    }
    try write(size.count)
    for _ in 0..<3 { try await folder.tick(after: 7200) }
    #expect(try await folder.remoteLines().flatMap(\.self).sorted() == Array(0..<next))
    #expect(try await folder.gaps().isEmpty)
  }

  @Test func `lines of a program that goes on after the seal are sent`() async throws {
    let folder = try AttachedFolder("*.log")
    try folder.append(0..<100, to: "app.log")
    try await folder.tick()
    #expect(try await folder.run(Rotation.create.command("app.log")) == 0)
    for _ in 0..<3 { try await folder.tick(after: 7200) }
    try await folder.expectSealed(1)
    try folder.append(100..<110, to: "old/app.log.1")
    for _ in 0..<2 { try await folder.tick(after: 7200) }
    #expect(try await folder.remoteLines() == [Array(0..<100), Array(100..<110)])
  }

  @Test(arguments: [Rotation.create, .compress, .copyTruncate])
  func `rotations while the store is away lose nothing`(rotation: Rotation) async throws {
    let folder = try AttachedFolder("*.log")
    try folder.append(0..<100, to: "app.log")
    try await folder.tick()
    for start in stride(from: 100, to: 400, by: 100) {
      try folder.append(start..<start + 100, to: "app.log")
      folder.site.local.clock.advance(seconds: 7200)
      try folder.tickWithoutStore()
      #expect(try await folder.run(rotation.command("app.log")) == 0)
    }
    for _ in 0..<3 { try await folder.tick(after: 7200) }
    #expect(try await folder.remoteLines().flatMap(\.self).sorted() == Array(0..<400))
    #expect(try await folder.gaps().isEmpty)
  }

  @Test func `several rotations between two passes lose nothing`() async throws {
    let folder = try AttachedFolder("*.log")
    try folder.append(0..<100, to: "app.log")
    try await folder.tick()
    for start in stride(from: 100, to: 400, by: 100) {
      try folder.append(start..<start + 100, to: "app.log")
      #expect(try await folder.run(Rotation.delayedCompress.command("app.log")) == 0)
    }
    for _ in 0..<3 { try await folder.tick(after: 7200) }
    #expect(try await folder.remoteLines().flatMap(\.self).sorted() == Array(0..<400))
    #expect(try await folder.gaps().isEmpty)
  }

  @Test func `a copy that is not finished is not sent as another log`() async throws {
    let folder = try AttachedFolder("*.log")
    for start in [0, 100] {
      try folder.append(start..<start + 100, to: "app.log")
      try await folder.tick()
      guard start == 0 else { break }
      #expect(try await folder.run(Rotation.copyTruncate.command("app.log")) == 0)
      try await folder.tick(after: 7200)
    }
    #expect(try await folder.run("mv old/app.log.1 old/app.log.2; cp app.log old/app.log.1") == 0)
    try await folder.tick(after: 60)
    try folder.truncate("app.log")
    for _ in 0..<2 { try await folder.tick(after: 7200) }
    #expect(try await folder.remoteLines() == [Array(0..<100), Array(100..<200)])
    #expect(try await folder.gaps().isEmpty)
  }

  @Test func `what else is in the folder is not sent`() async throws {
    let folder = try AttachedFolder("*.log")
    try folder.append(0..<100, to: "app.log")
    #expect(
      try await folder.run("mkdir old; echo private >old/notes; echo old >old/other.log.1") == 0)
    try folder.append(500..<600, to: "old/app.log.7")
    try folder.modified("old/app.log.7", ago: 90_000)
    try await folder.tick()
    #expect(try await folder.run("mv app.log old/app.log.1") == 0)
    for _ in 0..<2 { try await folder.tick(after: 7200) }
    #expect(try await folder.run("echo more >>old/notes; echo more >>old/other.log.1") == 0)
    for _ in 0..<2 { try await folder.tick(after: 7200) }
    #expect(try await folder.remoteLines() == [Array(0..<100)])
  }

  /// As with logrotate's `extension`, and a date after a number of the log's own.
  @Test(arguments: [("app", "app.%.log"), ("worker1", "worker1-2026010%.log")], [false, true])
  func `a rotated name with the log's ending is recognized`(
    _ names: (log: String, rotated: String), isCompressed: Bool
  ) async throws {
    let folder = try AttachedFolder("*.log")
    var lines = 0
    func rotate(to number: Int) async throws {
      let old = "old/" + names.rotated.replacing("%", with: "\(number)")
      #expect(try await folder.run("mkdir -p old; mv \(names.log).log \(old)") == 0)
      if isCompressed { #expect(try await folder.run("gzip \(old)") == 0) }
    }
    for number in 1...6 {
      try folder.append(lines..<lines + 100, to: names.log + ".log")
      lines += 100
      if number % 2 == 1 { try await folder.tick(after: 7200) }
      try folder.append(lines..<lines + 10, to: names.log + ".log")
      lines += 10
      try await rotate(to: number)
    }
    for _ in 0..<3 { try await folder.tick(after: 7200) }
    #expect(try await folder.remoteLines().flatMap(\.self).sorted() == Array(0..<lines))
    #expect(try await folder.gaps().isEmpty)
  }

  /// Several rotations between two passes, with other sources of the same folders.
  @Test(arguments: ["**/access.log", "*/access.log", "db*.log"])
  func `each source reads the folder of its rotated logs`(other: String) async throws {
    var folder = try AttachedFolder("*.log", other)
    folder.sources[0].exclude = [try #require(.init("db*"))]
    for (name, start) in [("app.log", 0), ("db.log", 1000)] {
      try folder.append(start..<start + 100, to: name)
    }
    try await folder.tick()
    #expect(
      try await folder.run("mkdir old; for f in app db; do mv $f.log old/$f.log.1; done") == 0)
    for _ in 0..<2 { try await folder.tick(after: 7200) }
    #expect(try await folder.run("for f in app db; do mv old/$f.log.1 old/$f.log.2; done") == 0)
    try folder.append(100..<200, to: "old/app.log.1")
    try folder.append(1100..<1200, to: "old/db.log.1")
    for _ in 0..<2 { try await folder.tick(after: 7200) }
    let expected = Array(0..<200) + (other == "db*.log" ? Array(1000..<1200) : [])
    #expect(try await folder.remoteLines().flatMap(\.self).sorted() == expected)
  }

  @Test func `logs of the same name in another folder are not sent`() async throws {
    let folder = try AttachedFolder("*.log")
    for start in [0, 200] {
      try folder.append(start..<start + 100, to: "access.log")
      #expect(try await folder.run("mkdir -p nginx; echo private >>nginx/access.log.1") == 0)
      try folder.append(500..<600, to: "nginx/access.log.2")
      for _ in 0..<2 { try await folder.tick(after: 7200) }
      #expect(try await folder.run("mv access.log access.log.1") == 0)
      for _ in 0..<2 { try await folder.tick(after: 7200) }
    }
    #expect(try await folder.remoteLines() == [Array(0..<100), Array(200..<300)])
  }

  @Test func `a link to another folder is not followed`() async throws {
    let folder = try AttachedFolder("*.log")
    try folder.append(0..<100, to: "app.log")
    try await folder.tick()
    #expect(try await folder.run(Rotation.create.command("app.log")) == 0)
    for _ in 0..<2 { try await folder.tick(after: 7200) }
    #expect(try await folder.run("mkdir ../private; mv old older; ln -s ../private old") == 0)
    #expect(try await folder.run("cp older/app.log.1 ../private/app.log.2") == 0)
    #expect(try await folder.run("echo SECRET >>../private/app.log.2; rm -r older") == 0)
    for _ in 0..<2 { try await folder.tick(after: 7200) }
    #expect(try await folder.remoteLines() == [Array(0..<100)])
    #expect(try await !folder.remote(folder.sidecars()[0].sessionId).contains("SECRET"))
  }

  @Test func `a log with another link is found where rotation moved it`() async throws {
    let folder = try AttachedFolder("*.log")
    try folder.append(0..<100, to: "app.log")
    try await folder.tick()
    #expect(try await folder.run("mkdir backup old; ln app.log backup/app.log") == 0)
    try folder.append(100..<110, to: "app.log")
    #expect(try await folder.run("mv app.log old/app.log.1") == 0)
    for _ in 0..<3 { try await folder.tick(after: 7200) }
    #expect(try await folder.remoteLines() == [Array(0..<110)])
    #expect(try folder.sidecars().first?.source?.path == folder.file("old/app.log.1"))
  }

  /// As a backup makes it that consists of links.
  @Test func `a log with another link in a folder beside it is found compressed`() async throws {
    let folder = try AttachedFolder("*.log")
    try folder.append(0..<100, to: "app.log")
    try await folder.tick()
    #expect(try await folder.run("mkdir backup; ln app.log backup/app.log") == 0)
    try folder.append(100..<110, to: "app.log")
    #expect(try await folder.run("mv app.log app.log.1; gzip -f app.log.1") == 0)
    for _ in 0..<3 { try await folder.tick(after: 7200) }
    #expect(try await folder.remoteLines() == [Array(0..<110)])
    #expect(try await folder.gaps().isEmpty)
  }
}

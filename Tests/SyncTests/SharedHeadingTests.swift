import Foundation
import Platform
import SessionLog
import TestSupport
import Testing

@testable import Sync

/// Tables with one heading, and other logs with a common start, after a pass that saw only that start.
@Suite(.shiftedTime, .tags(.medium)) struct SharedHeadingTests {
  /// Shell commands that change `m.csv` between two passes, after its heading was sent.
  enum Burst: String, CaseIterable {
    case copyTruncate = "rows 0; cp -p m.csv m.csv.1; head m.csv"
    case copyTruncateCompress = "rows 0; gzip -c m.csv >m.csv.1.gz; head m.csv"
    case compress = "rows 0; gzip -c m.csv >m.csv.gz; head m.csv"
    case datedCompress = "rows 0; gzip -c m.csv >m.csv-20260101.gz; head m.csv"
    case twice =
      "rows 0; gzip -c m.csv >m.csv.2.gz; head m.csv; rows 100; cp m.csv m.csv.1; head m.csv"
    case rename = "rows 0; mv m.csv m.csv.1; head m.csv; gzip m.csv.1"

    var rows: Int { self == .twice ? 200 : 100 }

    var command: String {
      """
      set -e
      head() { echo time,host,value >$1; }
      rows() { for n in {0..99}; do echo "line $(($1 + n)) x" >>m.csv; done; }
      \(rawValue)
      """
    }
  }

  @Test(arguments: Burst.allCases)
  func `rows that came and were rotated between two passes are sent`(burst: Burst) async throws {
    // A compressed log with no other mark of rotation has to match itself.
    let folder = try AttachedFolder(burst == .compress ? "**" : "*.csv")
    try folder.append("time,host,value\n", to: "m.csv")
    for _ in 0..<2 { try await folder.tick(after: 7200) }
    #expect(try await folder.run(burst.command) == 0)
    try folder.append(1000..<1010, to: "other.csv")
    try await folder.tick(after: 10)
    for _ in 0..<2 { try await folder.tick(after: 7200) }
    let expected = Array(0..<burst.rows) + Array(1000..<1010)
    #expect(try await folder.remoteLines().flatMap(\.self).sorted() == expected)
    // The log goes on with its new file.
    #expect(try await folder.run("for n in {500..599}; do echo line $n x >>m.csv; done") == 0)
    for _ in 0..<2 { try await folder.tick(after: 7200) }
    #expect(
      try await folder.remoteLines().flatMap(\.self).sorted()
        == (expected + Array(500..<600)).sorted())
    #expect(try await folder.gaps().isEmpty)
  }

  @Test func `rows of many bursts are sent`() async throws {
    let folder = try AttachedFolder("**")
    try folder.append("time,host,value\n", to: "m.csv")
    for start in stride(from: 0, to: 300, by: 100) {
      try await folder.tick(after: 7200)
      let rotate = "for n in 2 1; do ! test -f m.csv.$n || mv m.csv.$n m.csv.$((n + 1)); done"
      let command = Burst.copyTruncate.command.replacing("rows 0", with: "\(rotate); rows \(start)")
      #expect(try await folder.run(command) == 0)
    }
    for _ in 0..<2 { try await folder.tick(after: 7200) }
    #expect(try await folder.remoteLines().flatMap(\.self).sorted() == Array(0..<300))
    #expect(try await folder.gaps().isEmpty)
  }

  /// The quiet one has nothing but its heading, which the other one's compressed file begins with.
  @Test(arguments: ["mv $f $f.1; head $f", "cp $f $f.1; head $f"])
  func `a quiet log does not take the rotated one of another`(rotate: String) async throws {
    let folder = try AttachedFolder("**")
    for name in ["web.access.log", "web.error.log"] {
      try folder.append("time,host,value\n", to: name)
    }
    try folder.append(0..<100, to: "web.access.log")
    for _ in 0..<2 { try await folder.tick(after: 7200) }
    try folder.append(100..<150, to: "web.access.log")
    let head = "head() { echo time,host,value >$1; }"
    #expect(
      try await folder.run(
        "\(head); for f in web.access.log web.error.log; do \(rotate); gzip -f $f.1; done") == 0)
    try folder.append(150..<160, to: "web.access.log")
    try await folder.tick(after: 10)
    for _ in 0..<2 { try await folder.tick(after: 7200) }
    #expect(
      try await folder.remoteLines().flatMap(\.self).sorted() == Array(0..<160))
    #expect(try await folder.gaps().isEmpty)
  }

  /// A file that was written over keeps its number, like one that got the number of a removed one.
  @Test func `a heading that was rotated is not the log that is copied over it`() async throws {
    let folder = try AttachedFolder("**")
    try folder.append("time,host,value\n", to: "app.log")
    for _ in 0..<2 { try await folder.tick(after: 7200) }
    #expect(try await folder.run("mv app.log app.log.1; echo time,host,value >app.log") == 0)
    try folder.append(0..<50, to: "app.log")
    for _ in 0..<2 { try await folder.tick(after: 7200) }
    try folder.append(50..<60, to: "app.log")
    #expect(try await folder.run("cp app.log app.log.1; echo time,host,value >app.log") == 0)
    try folder.append(60..<65, to: "app.log")
    try await folder.tick(after: 10)
    for _ in 0..<2 { try await folder.tick(after: 7200) }
    #expect(try await folder.remoteLines().flatMap(\.self).sorted() == Array(0..<65))
    #expect(try await folder.gaps().isEmpty)
  }

  private static let longHeading = String(repeating: "#field name type\n", count: 300)

  @Test func `a copy with the number of a removed heading is its own log's`() async throws {
    let folder = try AttachedFolder("*.log")
    try folder.append(Self.longHeading, to: "app.log")
    try await folder.tick()
    #expect(try await folder.run("cp app.log app.log-1; : >app.log") == 0)
    for _ in 0..<2 { try await folder.tick(after: 7200) }
    try folder.append(Self.longHeading, to: "app.log")
    try folder.append(0..<20, to: "app.log")
    try await folder.tick(after: 7200)
    #expect(
      try await folder.run(
        """
        zstd -q app.log-1; mv app.log-1 app.log-2
        cat app.log >app.log-2; : >app.log
        """) == 0)
    for _ in 0..<3 { try await folder.tick(after: 7200) }
    #expect(try await folder.remoteLines().flatMap(\.self) == Array(0..<20))
    #expect(try await folder.gaps().isEmpty)
  }

  @Test func `a log that a pass died at is told from the next one, though it had grown on`()
    async throws
  {
    let folder = try AttachedFolder("*.log*", idleEnd: 3600)
    try folder.append(Self.longHeading, to: "app.log")
    try folder.append(0..<10, to: "app.log")
    for _ in 0..<3 { try await folder.tick(after: 7200) }
    try await folder.expectSealed(1)
    try folder.append(10..<12, to: "app.log")
    try await folder.dyingTick(after: 1)
    #expect(try await folder.run("cp app.log app.log.1; : >app.log") == 0)
    try folder.append(Self.longHeading, to: "app.log")
    try folder.append(100..<140, to: "app.log")
    for _ in 0..<3 { try await folder.tick(after: 7200) }
    #expect(
      try await folder.remoteLines().flatMap(\.self).sorted()
        == Array(0..<12) + Array(100..<140))
    #expect(try await folder.gaps().isEmpty)
  }

  /// A job's script compresses its log, and empties it.
  @Test func `a compressed log beside its emptied original is sent each night`() async throws {
    let folder = try AttachedFolder("**")
    try folder.append("", to: "job.log")
    try await folder.tick()
    for night in 0..<3 {
      try folder.append(night * 100..<night * 100 + 100, to: "job.log")
      #expect(try await folder.run("gzip -c job.log >job.log.gz; : >job.log") == 0)
      try await folder.tick(after: 86_400)
    }
    try await folder.tick(after: 7200)
    #expect(try await folder.remoteLines().flatMap(\.self).sorted() == Array(0..<300))
  }

  @Test(arguments: ["", "banner\n", String(repeating: "#field name type\n", count: 300)])
  func `a compressed log beside one that only begins alike is sent`(heading: String) async throws {
    let folder = try AttachedFolder("**")
    try folder.append(heading, to: "app.log")
    try folder.append(0..<100, to: "app.log")
    #expect(try await folder.run("gzip app.log") == 0)
    try folder.append(heading, to: "app.log")
    if heading.count > 4096 { try folder.append(100..<200, to: "app.log") }
    for _ in 0..<2 { try await folder.tick(after: 7200) }
    let expected = Array(0..<(heading.count > 4096 ? 200 : 100))
    #expect(try await folder.remoteLines().flatMap(\.self).sorted() == expected)
  }

  @Test func `a compressed copy of a log that is in place is not sent`() async throws {
    let folder = try AttachedFolder("**")
    try folder.append(0..<1000, to: "app.log")
    #expect(try await folder.run("gzip -k app.log") == 0)
    for _ in 0..<2 { try await folder.tick(after: 7200) }
    try folder.append(1000..<1100, to: "app.log")
    for _ in 0..<2 { try await folder.tick(after: 7200) }
    #expect(try await folder.remoteLines() == [Array(0..<1100)])
  }

  /// The heading fills what passes remember of a log's beginning; its rows have one width.
  @Test func `a compressed log of the same length as a known one is another`() async throws {
    let folder = try AttachedFolder("*.gz")
    let heading = String(repeating: "#field name type\n", count: 300)
    func rotate(_ night: Int) async throws {
      #expect(try await folder.run("! test -f m.1.gz || mv m.1.gz m.2.gz") == 0)
      try folder.append(heading, to: "m.1")
      try folder.append(night * 100..<night * 100 + 100, to: "m.1")
      #expect(try await folder.run("gzip -n m.1") == 0)
      for _ in 0..<2 { try await folder.tick(after: 7200) }
    }
    for night in 1...3 { try await rotate(night) }
    folder.site.local.clock.advance(seconds: 8 * 86_400)
    try await folder.site.reap()
    try folder.loseCache()
    for night in 4...6 { try await rotate(night) }
    // Those of the first three nights had left the home, as far as their files are gone.
    let lines = try await folder.remoteLines().flatMap(\.self)
    #expect(lines.filter { $0 >= 400 }.sorted() == Array(400..<700))
  }

  @Test(arguments: ["archive/app.log.1", "archive/app.log-20260101"], [0, 10])
  func `a rotated log that is compressed in another folder is sent once`(
    target: String, unsent: Int
  ) async throws {
    let folder = try AttachedFolder("*.log")
    for day in 0..<2 {
      try folder.append(day * 100..<day * 100 + 100, to: "app.log")
      for _ in 0..<2 { try await folder.tick(after: 7200) }
      #expect(try await folder.run("mkdir -p archive; mv app.log app.log.1") == 0)
      try await folder.tick(after: 7200)
      guard day == 1 else {
        #expect(try await folder.run("mv app.log.1 archive/app.log.2") == 0)
        try await folder.tick(after: 7200)
        continue
      }
      try folder.append(200..<200 + unsent, to: "app.log.1")
      #expect(try await folder.run("mv app.log.1 \(target); gzip \(target)") == 0)
      for _ in 0..<2 { try await folder.tick(after: 7200) }
    }
    #expect(try await folder.remoteLines().flatMap(\.self).sorted() == Array(0..<200 + unsent))
    #expect(try await folder.gaps().isEmpty)
  }

  /// A script keeps copies of rotated logs where no pattern leads.
  @Test func `copies of rotated logs in an archive are not sent again`() async throws {
    let folder = try AttachedFolder("*.log")
    for day in 0..<4 {
      try folder.append(day * 100..<day * 100 + 100, to: "app.log")
      for _ in 0..<2 { try await folder.tick(after: 7200) }
      let rotate = "mkdir -p archive; rm -f app.log.1; mv app.log app.log.1"
      #expect(try await folder.run("\(rotate); cp app.log.1 archive/app.log-2026010\(day)") == 0)
      try folder.append("", to: "app.log")
      for _ in 0..<2 { try await folder.tick(after: 7200) }
    }
    #expect(try await folder.remoteLines() == (0..<4).map { Array($0 * 100..<$0 * 100 + 100) })
  }

  /// Who writes logs can make many begin alike.
  @Test func `a moved log is compared with few files, rotated names first`() throws {
    let folder = try AttachedFolder("app.log")
    let heading = String(repeating: "#field name type\n", count: 300)
    try folder.append(heading, to: "app.log")
    try folder.tickWithoutStore()
    let files = try AttachedFiles(folder.site.local.home)
    let known = try #require(try files.here(at: folder.file("app.log")).first)
    let names = (0..<100).map { "app.copy\($0)" } + ["app.log.1"]
    var targets = RotationTargets(
      try names.map { name in
        try folder.append(heading, to: name)
        let status = try #require(try FileStatus(folder.file(name)))
        return AttachCandidate(path: folder.file(name), status: status, source: nil)
      })
    var compared: [String] = []
    let found = try targets.take(for: known) { target in
      compared.append(target.path)
      return false
    }
    #expect(found == nil && compared.count == RotationTargets.mostCompared)
    #expect(compared.first == folder.file("app.log.1"))
  }
}

import Foundation
import Platform
import SessionLog
import TestSupport
import Testing

@testable import Sync

/// Files that come and go while passes look at them.
@Suite(.shiftedTime, .tags(.medium)) struct DisturbedFolderTests {
  /// Does something each time a pass has seen a number of file statuses.
  private final class Disturbance: FileEffects {
    private let period: Int
    private let action: @Sendable (_ number: Int) -> Void
    private let count = Guarded(0)

    /// - Parameter action: gets how often it was done before.
    init(every period: Int, _ action: @escaping @Sendable (_ number: Int) -> Void) {
      (self.period, self.action) = (period, action)
    }

    func perform(_ effect: FileEffect, _ body: () -> Int) -> Int { body() }
    func random() -> UInt64 { .random(in: 0 ... .max) }

    func status(_ status: FileStatus) -> FileStatus {
      count.withLock { count in
        count += 1
        if count % period == 0 { action(count / period - 1) }
      }
      return ShiftedTime.shown(status)
    }
  }

  /// A pass that is disturbed reads `b/app.log` whole.
  private func expectRead(_ folder: AttachedFolder, during disturbance: Disturbance) async throws {
    try await Parallelism.$isSequential.withValue(true) {
      try await FileEffect.$hook.withValue(disturbance) {
        await Task.yield()
        try folder.tickWithoutStore()
      }
    }
    let known = try AttachedFiles(folder.site.local.home).here(at: folder.file("b/app.log"))
    let length = try FileStatus(folder.file("b/app.log"))?.length
    #expect(known.map(\.seen) == [length])
  }

  @Test(arguments: 1...30, ["a/x.log", "b/x.log"])
  func `a file that comes and goes delays no other log`(period: Int, name: String) async throws {
    let folder = try AttachedFolder("*/*.log")
    #expect(try await folder.run("mkdir a b") == 0)
    try folder.append("a line\n", to: name)
    try folder.append(0..<10, to: "b/app.log")
    try await folder.tick()
    try folder.append(10..<20, to: "b/app.log")
    let path = folder.file(name)
    let disturbance = Disturbance(every: period) { _ in
      if FileManager.default.fileExists(atPath: path) {
        try? FileManager.default.removeItem(atPath: path)
      } else {
        try? Data("a line\n".utf8).write(to: URL(filePath: path))
      }
    }
    try await expectRead(folder, during: disturbance)
  }

  @Test(arguments: 1...40)
  func `a folder that becomes a loop of links delays no other one`(period: Int) async throws {
    let folder = try AttachedFolder("*/*.log")
    #expect(try await folder.run("mkdir a b && echo line >a/x.1.log && gzip -k a/x.1.log") == 0)
    #expect(try await folder.run("ln -s ../a/x.1.log b/link.log") == 0)
    try folder.append(0..<10, to: "b/app.log")
    try await folder.tick()
    try folder.append(10..<20, to: "b/app.log")
    #expect(try await folder.run("touch a/x.1.log.gz") == 0)
    let path = folder.file("a")
    let disturbance = Disturbance(every: period) { number in
      if number.isMultiple(of: 2) {
        rename(path, path + ".aside")
        symlink(path, path)
      } else {
        unlink(path)
        rename(path + ".aside", path)
      }
    }
    try await expectRead(folder, during: disturbance)
  }

  @Test(arguments: 1...40)
  func `a rotation while the cache is rebuilt neither loses nor repeats a line`(
    moment: Int
  ) async throws {
    let folder = try AttachedFolder("*.log*")
    for (name, first) in [("app.log.1", 0), ("app.log", 10)] {
      try folder.append(first..<first + 10, to: name)
    }
    try await folder.tick()
    try AttachedFiles(folder.site.local.home).distrust()
    let path = folder.file("app.log")
    let disturbance = Disturbance(every: moment) { number in
      guard number == 0 else { return }
      rename(path + ".1", path + ".2")
      rename(path, path + ".1")
      try? Data(AttachedFolder.line(20).utf8).write(to: URL(filePath: path))
    }
    try await Parallelism.$isSequential.withValue(true) {
      try await FileEffect.$hook.withValue(disturbance) {
        await Task.yield()
        try folder.tickWithoutStore()
      }
    }
    for _ in 0..<3 { try await folder.tick(after: 7200) }
    #expect(try await folder.remoteLines() == [Array(0..<10), Array(10..<20), [20]])
    #expect(try await folder.gaps().isEmpty)
  }

  /// Truncates a file each time a pass has seen its status.
  private struct Truncation: FileEffects {
    let path: String
    let inode: UInt64

    func perform(_ effect: FileEffect, _ body: () -> Int) -> Int { body() }
    func random() -> UInt64 { .random(in: 0 ... .max) }

    func status(_ status: FileStatus) -> FileStatus {
      if status.inode == inode { truncate(path, 0) }
      return ShiftedTime.shown(status)
    }
  }

  @Test func `a log that is truncated while an upload is planned delays no other one`() async throws
  {
    let folder = try AttachedFolder("*.log")
    for name in ["a.log", "b.log"] { try folder.append(0..<10, to: name) }
    try await folder.tick()
    for name in ["a.log", "b.log"] { try folder.append(10..<40, to: name) }
    try folder.tickWithoutStore()
    let path = folder.file("a.log")
    let hook = Truncation(path: path, inode: try #require(try FileStatus(path)).inode)
    let plan = try await Parallelism.$isSequential.withValue(true) {
      try await FileEffect.$hook.withValue(hook) {
        await Task.yield()
        return try Uploader(folder.site.context()).plan(.transient)
      }
    }
    let files = try AttachedFiles(folder.site.local.home)
    #expect(try plan.items.map(\.session) == files.here(at: folder.file("b.log")).map(\.session))
    #expect(try plan.waiting.contains { try $0.session == files.here(at: path).first?.session })
  }

  /// What the owner of a log does to it while a pass looks.
  enum Nuisance: CaseIterable {
    case truncating, renaming, removing

    /// Does it, or undoes it.
    func perform(_ number: Int, at path: String, _ content: Data) {
      let aside = path + ".log"
      switch (self, number.isMultiple(of: 2)) {
      case (.truncating, true): truncate(path, off_t(content.count / 2))
      case (.truncating, false):
        let file = FileHandle(forUpdatingAtPath: path)
        try? file?.write(contentsOf: content)
        try? file?.close()
      case (.renaming, true): rename(path, aside)
      case (.renaming, false): rename(aside, path)
      case (.removing, true): unlink(path)
      case (.removing, false):
        try? content.write(to: URL(filePath: path))
        chown(path, DisturbedFolderTests.owners.0, 0)
      }
    }
  }

  /// Two users who are not root.
  private static let owners: (UInt32, UInt32) = (65533, 65534)

  @Test(arguments: 1...16, Nuisance.allCases)
  func `who disturbs a shared folder delays no other user's logs`(
    period: Int, nuisance: Nuisance
  ) async throws {
    let folder = try AttachedFolder("*.log")
    try folder.append(100..<600, to: "a.log")
    try folder.append(0..<10, to: "b.log")
    for first in [700, 710] {
      if first > 700 { try folder.rename("root.log", to: "root.log.1") }
      try folder.append(first..<first + 10, to: "root.log")
      #expect(
        try await folder.run("chown \(Self.owners.0) a.log; chown \(Self.owners.1) b.log") == 0)
      try await folder.tick()
    }
    // Its sent bytes have to be compared.
    #expect(try await folder.run("printf x | dd of=a.log conv=notrunc bs=1 seek=900") == 0)
    try folder.rename("b.log", to: "b.log.1")
    try folder.append(10..<20, to: "b.log.1")
    try folder.append(20..<30, to: "b.log")
    try folder.append(30..<40, to: "new.log")
    #expect(try await folder.run("chown \(Self.owners.1) b.log new.log") == 0)
    // The file that root's log is moved over seems to be lost.
    try folder.rename("root.log", to: "root.log.1")
    try folder.append(720..<730, to: "root.log")
    let path = folder.file("a.log")
    let content = try Data(contentsOf: URL(filePath: path))
    let disturbance = Disturbance(every: period) { nuisance.perform($0, at: path, content) }
    try await Parallelism.$isSequential.withValue(true) {
      try await FileEffect.$hook.withValue(disturbance) {
        await Task.yield()
        try folder.tickWithoutStore()
      }
    }
    let files = try AttachedFiles(folder.site.local.home)
    for name in ["b.log.1", "b.log", "new.log", "root.log.1", "root.log"] {
      let known = try files.here(at: folder.file(name))
      let length = try FileStatus(folder.file(name))?.length
      #expect(known.contains { $0.seen == length }, "\(name)")
    }
    try await folder.tick(after: 7200)
    try await folder.tick(after: 7200)
    let lines = try await folder.remoteLines()
    #expect(lines.starts(with: [Array(0..<20), Array(20..<30), Array(30..<40)]))
  }

  /// A folder of his own is busy, so that the pass looks as often as it can.
  @Test(arguments: 0..<40)
  func `who disturbs a shared folder late delays no other user's logs`(
    moment: Int
  ) async throws {
    let folder = try AttachedFolder("*/*.log")
    #expect(try await folder.run("mkdir busy shared") == 0)
    try folder.append(0..<10, to: "busy/own.log")
    try folder.append("no log\n", to: "shared/own")
    #expect(try await folder.run("chown \(Self.owners.0) */own*") == 0)
    try await folder.tick()
    try folder.append(10..<20, to: "shared/new.log")
    #expect(try await folder.run("chown \(Self.owners.1) shared/new.log") == 0)
    let (busy, shared) = (folder.file("busy/own.log"), folder.file("shared/own"))
    let disturbance = Disturbance(every: 1) { number in
      let paths = number < 2 * moment ? [busy] : [busy, shared]
      for path in paths { if rename(path, path + ".log") != 0 { rename(path + ".log", path) } }
    }
    try await Parallelism.$isSequential.withValue(true) {
      try await FileEffect.$hook.withValue(disturbance) {
        await Task.yield()
        try folder.tickWithoutStore()
      }
    }
    let path = folder.file("shared/new.log")
    let known = try AttachedFiles(folder.site.local.home).here(at: path)
    #expect(try known.map(\.seen) == [FileStatus(path)?.length])
  }

  /// It begins like the one before, in the same file.
  @Test func `a log that is cut before its upload is not sent as what it held`() async throws {
    let heading = String(repeating: "a heading of each log\n", count: 300)
    let folder = try AttachedFolder("app.log")
    try folder.append(heading, to: "app.log")
    try folder.append(0..<10, to: "app.log")
    try folder.tickWithoutStore()
    try folder.truncate("app.log")
    try folder.append(heading, to: "app.log")
    try folder.append(10..<60, to: "app.log")
    let uploader = Uploader(try folder.site.context())
    let report = try await uploader.execute(uploader.plan(.transient))
    #expect(report.failures.count == 1 && report.logBytes == 0)
    for _ in 0..<3 { try await folder.tick(after: 7200) }
    #expect(try await folder.remoteLines() == [Array(10..<60), []])
    #expect(try await folder.gaps().count == 1)
  }

  @Test func `a folder that is disturbed in two passes is named once`() async throws {
    let folder = try AttachedFolder("*.log")
    for name in ["a.log", "b.log"] { try folder.append(0..<10, to: name) }
    try await folder.tick()
    try folder.rename("b.log", to: "b.log.1")
    let path = folder.file("a.log")
    let disturbance = Disturbance(every: 3) { number in
      rename(number == 0 ? path : "\(path).\(number)", "\(path).\(number + 1)")
    }
    let reported = try await Parallelism.$isSequential.withValue(true) {
      try await FileEffect.$hook.withValue(disturbance) {
        await Task.yield()
        return try (1...3).map { _ in
          let attacher = try Attacher(folder.site.context(), sources: folder.sources)
          return try attacher.execute(attacher.plan())
        }
      }
    }
    #expect(reported.map { Array($0.keys) } == [[], [folder.path], []])
    #expect(try await Array(folder.problems().keys) == [folder.path])
    for _ in 1...2 { try await folder.tick() }
    #expect(try await folder.problems().isEmpty)
    #expect(try await folder.remoteLines() == [Array(0..<10), Array(0..<10)])
    #expect(try await folder.gaps().isEmpty)
  }
}

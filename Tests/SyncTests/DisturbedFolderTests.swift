import Foundation
import Platform
import SessionLog
import TestSupport
import Testing

@testable import Sync

/// Files that come and go while passes look at them.
@Suite(.shiftedTime, .tags(.medium)) struct DisturbedFolderTests {
  /// Removes a file, or makes it again, each time a pass has seen a number of file statuses.
  private final class Churn: FileEffects {
    private let path: String
    private let period: Int
    private let count = Guarded(0)

    init(_ path: String, every period: Int) { (self.path, self.period) = (path, period) }

    func perform(_ effect: FileEffect, _ body: () -> Int) -> Int { body() }
    func random() -> UInt64 { .random(in: 0 ... .max) }

    func status(_ status: FileStatus) -> FileStatus {
      let number = count.withLock { count in
        count += 1
        return count
      }
      if number % period == 0 {
        let isThere = FileManager.default.fileExists(atPath: path)
        if isThere {
          try? FileManager.default.removeItem(atPath: path)
        } else {
          try? Data("a line\n".utf8).write(to: URL(filePath: path))
        }
      }
      return ShiftedTime.shown(status)
    }
  }

  @Test(arguments: 1...30, ["a/x.log", "b/x.log"])
  func `a file that comes and goes delays no other log`(period: Int, name: String) async throws {
    let folder = try AttachedFolder("*/*.log")
    #expect(try await folder.run("mkdir a b") == 0)
    try folder.append("a line\n", to: name)
    try folder.append(0..<10, to: "b/app.log")
    try await folder.tick()
    try folder.append(10..<20, to: "b/app.log")
    try await Parallelism.$isSequential.withValue(true) {
      try await FileEffect.$hook.withValue(Churn(folder.file(name), every: period)) {
        await Task.yield()
        try folder.tickWithoutStore()
      }
    }
    let known = try AttachedFiles(folder.site.local.home).here(at: folder.file("b/app.log"))
    let length = try FileStatus(folder.file("b/app.log"))?.length
    #expect(known.map(\.seen) == [length])
  }

  /// Replaces a folder with a link to itself, or puts it back, each time a pass has seen a number of file
  /// statuses.
  private final class Loop: FileEffects {
    private let path: String
    private let period: Int
    private let count = Guarded(0)

    init(_ path: String, every period: Int) { (self.path, self.period) = (path, period) }

    func perform(_ effect: FileEffect, _ body: () -> Int) -> Int { body() }
    func random() -> UInt64 { .random(in: 0 ... .max) }

    func status(_ status: FileStatus) -> FileStatus {
      count.withLock { count in
        count += 1
        guard count % period == 0 else { return }
        if (count / period).isMultiple(of: 2) {
          unlink(path)
          rename(path + ".aside", path)
        } else {
          rename(path, path + ".aside")
          symlink(path, path)
        }
      }
      return ShiftedTime.shown(status)
    }
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
    try await Parallelism.$isSequential.withValue(true) {
      try await FileEffect.$hook.withValue(Loop(folder.file("a"), every: period)) {
        await Task.yield()
        try folder.tickWithoutStore()
      }
    }
    let known = try AttachedFiles(folder.site.local.home).here(at: folder.file("b/app.log"))
    let length = try FileStatus(folder.file("b/app.log"))?.length
    #expect(known.map(\.seen) == [length])
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
}

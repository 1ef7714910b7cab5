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

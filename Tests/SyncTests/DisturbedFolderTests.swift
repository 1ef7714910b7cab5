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
}

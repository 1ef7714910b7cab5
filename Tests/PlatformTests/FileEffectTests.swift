import Foundation
import Platform
import TestSupport
import Testing

@Suite(.tags(.medium)) struct FileEffectTests {
  /// A folder with one file.
  private static func withFile(_ body: (_ folder: String, _ file: String) throws -> Void) throws {
    let folder = NSTemporaryDirectory() + "tidemark-" + UUID().uuidString
    try Directory.make(folder)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try AtomicFile.write(Array("old".utf8), to: folder + "/file")
    try body(folder, folder + "/file")
  }

  private static let whole = [
    "open", "setMode", "write", "synchronize", "rename", "synchronizeNames",
  ]

  @Test func `the hook sees every file change`() throws {
    try Self.withFile { folder, file in
      let files = TestFiles()
      try FileEffect.$hook.withValue(files) {
        try AtomicFile.write(Array("new".utf8), to: file)
      }
      let kinds = files.effects.map { String("\($0.kind)".prefix { $0 != "(" }) }
      #expect(kinds == Self.whole)
      #expect(files.effects[4].kind == .rename(to: file))
      #expect(files.effects[0].path == files.effects[4].path)
      #expect(files.effects[5].path == folder)
    }
  }

  /// Effects that a dead process would not have are not carried out by `catch` or `defer` either.
  @Test(arguments: 0..<6)
  func `nothing changes on disk after a simulated death`(effects: Int) throws {
    try Self.withFile { folder, file in
      let files = TestFiles(lifetime: effects)
      #expect(throws: SystemError.self) {
        try FileEffect.$hook.withValue(files) {
          try AtomicFile.write(Array("new".utf8), to: file)
        }
      }
      #expect(files.effects.count == effects && files.isDead)
      let isTemporaryThere = (1...4).contains(effects)
      let names = try Directory.names(in: folder)
      #expect(names.count == (isTemporaryThere ? 2 : 1))
      let content = try AtomicFile.read(file)
      #expect(content == Array((effects < 5 ? "old" : "new").utf8))
    }
  }

  @Test func `the hook determines file times`() throws {
    try Self.withFile { _, file in
      let clock = TestClock()
      try FileEffect.$hook.withValue(TestFiles(clock: clock)) {
        try AtomicFile.write([1], to: file)
        #expect(try FileStatus(file)?.modifiedAt == clock.now())
        clock.advance(seconds: 100)
        let open = try Descriptor(opening: file, [.write, .create])
        #expect(try FileStatus(file)?.modifiedAt != clock.now())
        try [2].withUnsafeBytes { try open.write($0) }
        #expect(try FileStatus(file)?.modifiedAt == clock.now())
      }
    }
  }

  @Test(.shiftedTime) func `files have the times of a test whose time is shifted`() throws {
    try Self.withFile { _, file in
      let clock = try ShiftedTime.clock()
      let status = try #require(try FileStatus(file))
      #expect(clock.now().day == "2026-03-02")
      #expect(status.modifiedAt.day == clock.now().day)
      #expect(status.changed.timestamp.day == clock.now().day)
      // What a test sets by its clock is not shifted again.
      let earlier = clock.now() - .days(3)
      try FileManager.default.setAttributes([.modificationDate: earlier.date], ofItemAtPath: file)
      #expect(try FileStatus(file)?.modifiedAt.day == earlier.day)
    }
  }

  @Test func `the hook determines names of temporary files`() throws {
    func names() throws -> [String] {
      var names: [String] = []
      try Self.withFile { folder, file in
        let files = TestFiles()
        try FileEffect.$hook.withValue(files) { try AtomicFile.write([], to: file) }
        names = files.effects.map { String($0.path.dropFirst(folder.count)) }
      }
      return names
    }
    let (first, second) = (try names(), try names())
    #expect(first == second && !first.isEmpty)
  }

  @Test func `equal random bits make equal names`() {
    func name(_ seed: Int) -> String {
      var generator = SeededGenerator(case: seed, seed: 1)
      return RandomName.make(16) { generator.next() }
    }
    #expect(name(1) == name(1) && name(1) != name(2))
    #expect(name(1).count == 16 && name(1).allSatisfy { $0.isLowercase || $0.isNumber })
  }
}

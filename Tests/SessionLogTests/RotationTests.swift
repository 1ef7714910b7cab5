import Foundation
import LogRecords
import Platform
import Synchronization
import TestSupport
import Testing

@testable import SessionLog

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

@Suite(.tags(.medium)) struct RotationTests {
  /// Files of a session without a writer, in an existing folder.
  private func files(_ home: TestHome) throws -> SessionFiles {
    let files = home.home.files(for: SessionID.make(at: home.clock.now(), by: home.clock.machine))
    try FileManager.default.createDirectory(
      atPath: files.directory, withIntermediateDirectories: true)
    return files
  }

  private func stream(_ files: SessionFiles) throws -> [UInt8] {
    let log = try RecordedLog(files)
    return try log.read(log.start..<log.end())
  }

  /// Numbered records of one writer, of any length.
  private static func record(_ writer: Int, _ number: Int, _ random: inout SeededGenerator)
    -> String
  {
    let filler = String(repeating: "x", count: Int.random(in: 0..<200, using: &random))
    return "2026-01-22T14:30:05.123Z [INFO] [w\(writer)] \(number) \(filler)\n"
  }

  /// Appends records one by one, like a separate process.
  private static func append(_ records: [String], to log: inout LiveLog) {
    for record in records {
      let (count, error) = Array(record.utf8).withUnsafeBytes { log.append($0) }
      #expect(count == record.utf8.count && error == 0)
    }
  }

  @Test(arguments: SeededGenerator.cases(60))
  func `concurrent writers and rotations keep every record once`(number: Int) throws {
    var random = SeededGenerator(case: number)
    let home = try TestHome()
    let files = try files(home)
    let limit = ByteCount(Int64.random(in: 200..<8_000, using: &random))
    let writers = Int.random(in: 2...5, using: &random)
    let records = (0..<writers).map { writer in
      (0..<150).map { Self.record(writer, $0, &random) }
    }
    let isOver = Atomic(false)
    let reading = Thread {
      // A reader finds the whole stream at every moment, and never less than before.
      var seen: Int64 = 0
      while !isOver.load(ordering: .acquiring) {
        if let log = try? RecordedLog(files), let end = try? log.extent().end {
          let bytes = try? log.read(at: 0, count: Int(end))
          #expect(bytes?.count == Int(end) && end >= seen && log.start == 0)
          seen = end
        }
        try? files.compressParts(format: .lines)
      }
    }
    reading.start()
    DispatchQueue.concurrentPerform(iterations: writers) { writer in
      do {
        var log = try LiveLog(files, rotateAt: limit)
        Self.append(records[writer], to: &log)
      } catch {
        Issue.record(error)
      }
    }
    isOver.store(true, ordering: .releasing)
    while !reading.isFinished { sched_yield() }

    let lines = String(decoding: try stream(files), as: UTF8.self)
      .split(separator: "\n", omittingEmptySubsequences: false).dropLast().map { "\($0)\n" }
    for writer in 0..<writers {
      #expect(lines.filter { $0.contains("[w\(writer)]") } == records[writer])
    }
    #expect(lines.count == writers * 150)
    let parts = try files.parts()
    #expect(!parts.isEmpty)
    #expect(try FileStatus(files.log) != nil)
    try files.compressParts(format: .lines)
    #expect(try files.parts() == parts)
    #expect(parts.allSatisfy { access($0.plain, F_OK) != 0 && access($0.compressed, F_OK) == 0 })
    #expect(String(decoding: try stream(files), as: UTF8.self) == lines.joined())
  }

  /// Lets another writer rotate the log as soon as this one has opened it.
  private final class Interloper: FileEffects {
    private let path: String
    private let isDue = Atomic(true)
    private let rotate: @Sendable () -> Void

    init(after path: String, _ rotate: @escaping @Sendable () -> Void) {
      (self.path, self.rotate) = (path, rotate)
    }

    func perform(_ effect: FileEffect, _ body: () -> Int) -> Int {
      let result = body()
      guard case .open = effect.kind, effect.path == path, isDue.exchange(false, ordering: .relaxed)
      else { return result }
      FileEffect.$hook.withValue(nil) { rotate() }
      return result
    }

    func random() -> UInt64 { .random(in: 0 ... .max) }
  }

  /// Its base is not the one of the file that it holds.
  @Test(arguments: [1, 2])
  func `a writer whose log is rotated while it is opened loses no record`(rotations: Int) throws {
    let home = try TestHome()
    let files = try files(home)
    var expected = ["first\n", "second\n"]
    var log = try LiveLog(files, rotateAt: 1, isNew: true)
    Self.append(["first\n"], to: &log)
    var other = try LiveLog(files, rotateAt: 1)
    Self.append(["second\n"], to: &other)
    let interloper = Interloper(after: files.log) {
      guard var third = try? LiveLog(files, rotateAt: 1) else { return }
      Self.append((0..<rotations).map { "meanwhile \($0)\n" }, to: &third)
    }
    expected += (0..<rotations).map { "meanwhile \($0)\n" } + ["third\n", "fourth\n"]
    FileEffect.$hook.withValue(interloper) { Self.append(["third\n"], to: &log) }
    Self.append(["fourth\n"], to: &log)
    #expect(String(decoding: try stream(files), as: UTF8.self) == expected.joined())
    #expect(try files.parts().count == expected.count)
    #expect(try !log.isLost())
  }

  @Test func `a reader finds every byte at its offset during rotations`() throws {
    let home = try TestHome()
    let files = try files(home)
    var random = SeededGenerator(case: 4)
    let records = (0..<250).map { Self.record(0, $0, &random) }
    let expected = Array(records.joined().utf8)
    try Data().write(to: URL(filePath: files.log))
    let isOver = Atomic(false)
    let writing = Thread {
      do {
        var log = try LiveLog(files, rotateAt: 1)
        Self.append(records, to: &log)
      } catch {
        Issue.record(error)
      }
      isOver.store(true, ordering: .releasing)
    }
    writing.start()
    while !isOver.load(ordering: .acquiring) {
      let log = try RecordedLog(files)
      let end = Int(try log.extent().end)
      let start = max(0, end - 300)
      let bytes = try log.read(at: Int64(start), count: end - start)
      #expect(end <= expected.count && bytes == Array(expected[start..<end]))
    }
    #expect(try stream(files) == expected)
  }

  /// A session that has been rotated twice, with its expected content.
  private func rotated(_ home: TestHome) throws -> (SessionFiles, String) {
    let files = try files(home)
    var random = SeededGenerator(case: 1, seed: 1)
    let records = (0..<40).map { Self.record(0, $0, &random) }
    var log = try LiveLog(files, rotateAt: 2_000)
    Self.append(records, to: &log)
    #expect(try files.parts().count >= 2)
    return (files, records.joined())
  }

  /// The files on disk when a rotation or a compression dies at one of its steps.
  enum Interruption: String, CaseIterable {
    case marked, renamed, created, compressing, named, compressed
  }

  @Test(arguments: Interruption.allCases)
  func `an interrupted rotation leaves the stream complete`(_ interruption: Interruption) throws {
    let home = try TestHome()
    var (files, expected) = try rotated(home)
    let last = try #require(try files.parts().last)
    switch interruption {
    case .marked:
      files = try self.files(home)
      expected = "2026-01-22T14:30:05.123Z [INFO] [w0] only\n"
      try Data(expected.utf8).write(to: URL(filePath: files.log))
      try Data().write(to: URL(filePath: files.rotated))
    case .renamed:
      let live = try String(contentsOfFile: files.log, encoding: .utf8)
      #expect(expected.hasSuffix(live))
      expected.removeLast(live.count)
      try FileManager.default.removeItem(atPath: files.log)
    case .created: break
    case .compressing:
      try Data([0x28, 0xb5]).write(to: URL(filePath: last.compressed + ".tmp"))
    case .named:
      let plain = try Data(contentsOf: URL(filePath: last.plain))
      try files.compressParts(format: .lines)
      try plain.write(to: URL(filePath: last.plain))
    case .compressed: try files.compressParts(format: .lines)
    }
    #expect(String(decoding: try stream(files), as: UTF8.self) == expected)
    // The next writer, then the next compressor.
    var log = try LiveLog(files, rotateAt: 2_000)
    var random = SeededGenerator(case: 2)
    let more = (0..<40).map { Self.record(1, $0, &random) }
    Self.append(more, to: &log)
    #expect(String(decoding: try stream(files), as: UTF8.self) == expected + more.joined())
    try files.compressParts(format: .lines)
    #expect(String(decoding: try stream(files), as: UTF8.self) == expected + more.joined())
    let names = try FileManager.default.contentsOfDirectory(atPath: files.directory)
    #expect(!names.contains { $0.hasSuffix(".tmp") }, "\(names)")
    #expect(try files.parts().allSatisfy { try FileStatus($0.plain) == nil })
  }

  /// The note precedes the rotation: the part that it names may be gone, or never have been made.
  @Test(arguments: [false, true], [false, true])
  func `a copied home shows a missing part, and none after a killed rotation`(
    isKilled: Bool, isPruned: Bool
  ) throws {
    let home = try TestHome()
    let (files, _) = try rotated(home)
    let parts = try files.parts()
    let last = try #require(parts.last)
    let base = try RecordedLog(files).base
    let live = try Data(contentsOf: URL(filePath: files.log))
    let part = try Data(contentsOf: URL(filePath: last.plain))
    for part in isPruned ? parts : [last] { try File.remove(part.plain) }
    try File.remove(files.log)
    try (isKilled ? part : live).write(to: URL(filePath: files.log))

    let start = isKilled ? last.start : base
    let log = try RecordedLog(files)
    #expect(log.base == start)
    #expect(try log.runs().count == (isKilled || isPruned ? 1 : 2))
    #expect(try log.end() == base + ByteCount(isKilled ? 0 : live.count))
    var writer = try LiveLog(files, rotateAt: 2_000)
    var random = SeededGenerator(case: 2)
    let more = (0..<40).map { Self.record(1, $0, &random) }
    Self.append(more, to: &writer)
    #expect(try files.parts().first { $0.start >= last.start }?.start == start)
    let next = try RecordedLog(files)
    let written = try next.read(start..<next.end())
    #expect(written == Array((isKilled ? part : live) + Data(more.joined().utf8)))
  }

  /// Cut numbers and hashes are others.
  @Test func `a note that a power failure has cut counts as none`() throws {
    let home = try TestHome()
    let (files, _) = try rotated(home)
    let last = try #require(try files.parts().last)
    let note = try Data(contentsOf: URL(filePath: files.rotated))
    try File.remove(files.log)
    try File.rename(last.plain, to: files.log)
    for length in 0...note.count {
      try note.prefix(length).write(to: URL(filePath: files.rotated))
      #expect(try RecordedLog(files).base == last.start, "\(length) of \(note.count)")
    }
  }

  @Test func `a note of an earlier version shows a missing part by the log's length`() throws {
    let home = try TestHome()
    let (files, _) = try rotated(home)
    let last = try #require(try files.parts().last)
    let base = try RecordedLog(files).base
    try Data("\(last.start) \(base)\n".utf8).write(to: URL(filePath: files.rotated))
    #expect(try RecordedLog(files).base == base)
    let part = try Data(contentsOf: URL(filePath: last.plain))
    try File.remove(last.plain)
    #expect(try RecordedLog(files).base == base)
    try part.write(to: URL(filePath: files.log))
    #expect(try RecordedLog(files).base == last.start)
  }

  @Test func `a compressed part is plain zstd and keeps its time`() async throws {
    let home = try TestHome()
    let (files, expected) = try rotated(home)
    let first = try #require(try files.parts().first)
    let before = try #require(try FileStatus(first.plain))
    try files.compressParts(format: .lines)
    #expect(try FileStatus(first.compressed)?.modifiedAt == before.modifiedAt)
    #expect(first.start == 0 && first.compressed.hasSuffix(".000000000000.log.zst"))
    let unpacked = try await Command(["zstd", "-dcq", first.compressed]).run()
    #expect(unpacked.output == Array(expected.utf8.prefix(Int(before.length))))
  }

  /// Compresses nothing, and takes its time for it.
  private struct SlowCompression: PartCompression {
    let calls: AsyncStream<Bool>.Continuation

    func compress(_ files: SessionFiles, format: LogFormat) {
      calls.yield(false)
      for _ in 0..<1_000 { sched_yield() }
      calls.yield(true)
    }

    func open(_ part: LogPart) throws -> any OpenPart {
      throw SystemError(operation: "open", path: part.compressed, errno: ENOTSUP)
    }
  }

  @Test func `a writer that is let go while it compresses unlocks its session after that`()
    async throws
  {
    let local = try TestHome()
    let (began, calls) = AsyncStream<Bool>.makeStream()
    let home = local.home.compressing(with: SlowCompression(calls: calls))
    var options = RecordingOptions()
    options.rotateAt = 600
    var writer: SessionWriter? = try SessionWriter(
      home: home, device: local.device, appName: "test", options: options,
      machine: local.clock.machine)
    let lock = try #require(writer).files.lock
    for line in 0..<16 { writer?.record(.info, category: "App", "line \(line)") }
    var isOver = began.makeAsyncIterator()
    #expect(await isOver.next() == false)
    writer = nil
    #expect(try FileLock.tryExclusive(lock) != nil)
    calls.finish()
    var last = false
    while let call = await isOver.next() { last = call }
    #expect(last)
  }

  @Test(arguments: ["cut", "flipped", "empty"])
  func `a plain part goes only where its compressed copy reads back the same`(
    damage: String
  ) throws {
    let home = try TestHome()
    let (files, expected) = try rotated(home)
    let first = try #require(try files.parts().first)
    let plain = try Data(contentsOf: URL(filePath: first.plain))
    try files.compressParts(format: .lines)
    var compressed = try Data(contentsOf: URL(filePath: first.compressed))
    switch damage {
    case "cut": compressed.removeLast(compressed.count / 2)
    case "flipped": compressed[12] ^= 1
    default: compressed = Data()
    }
    try compressed.write(to: URL(filePath: first.compressed))
    try plain.write(to: URL(filePath: first.plain))
    try files.compressParts(format: .lines)
    #expect(try FileStatus(first.plain) == nil)
    #expect(String(decoding: try stream(files), as: UTF8.self) == expected)
  }

  @Test func `any range is read across parts and the live log`() throws {
    let home = try TestHome()
    let (files, text) = try rotated(home)
    let expected = Array(text.utf8)
    var random = SeededGenerator(case: 3)
    for isCompressed in [false, true] {
      if isCompressed { try files.compressParts(format: .lines) }
      let log = try RecordedLog(files)
      for _ in 0..<200 {
        let from = Int.random(in: 0...expected.count, using: &random)
        let count = Int.random(in: 0...expected.count, using: &random)
        let bytes = try log.read(at: Int64(from), count: count)
        #expect(bytes == Array(expected[from..<min(expected.count, from + count)]))
      }
    }
  }

  @Test func `reading a damaged part fails or returns the original bytes`() throws {
    let home = try TestHome()
    let (files, _) = try rotated(home)
    try files.compressParts(format: .lines)
    let first = try #require(try files.parts().first)
    let whole = try Data(contentsOf: URL(filePath: first.compressed))
    let expected = try files.open(first).read(at: 0, count: 100_000)
    for position in whole.indices {
      var damaged = whole
      damaged[position] ^= 0x10
      try damaged.write(to: URL(filePath: first.compressed))
      let found = try? files.open(first).read(at: 0, count: 100_000)
      #expect(found == nil || found == expected, "byte \(position)")
    }
  }

  @Test func `a rotation never divides a record`() throws {
    let home = try TestHome()
    let files = try files(home)
    var log = try LiveLog(files, rotateAt: 10)
    _ = Array("torn in the middle".utf8).withUnsafeBytes { log.append($0) }
    #expect(try files.parts().isEmpty)
    _ = Array("\n".utf8).withUnsafeBytes { log.append($0) }
    #expect(try files.parts().count == 1)
  }

  @Test func `writing to a deleted session does not create it again`() throws {
    let home = try TestHome()
    let (files, _) = try rotated(home)
    var log = try LiveLog(files, rotateAt: 0)
    try FileManager.default.removeItem(atPath: files.directory)
    let result = Array("late\n".utf8).withUnsafeBytes { log.append($0) }
    #expect(result.count == 5)
    #expect(!FileManager.default.fileExists(atPath: files.log))
  }

  @Test func `a log that cannot be rotated keeps growing`() throws {
    let home = try TestHome()
    let files = try files(home)
    // A folder has the part's name.
    try FileManager.default.createDirectory(
      atPath: files.part(at: 0).plain, withIntermediateDirectories: true)
    var log = try LiveLog(files, rotateAt: 100)
    let records = (0..<50).map { "record \($0)\n" }
    Self.append(records, to: &log)
    #expect(try String(contentsOfFile: files.log, encoding: .utf8) == records.joined())
  }

  @Test(arguments: [0, 1_500] as [ByteCount])
  func `the end record is found after rotations`(limit: ByteCount) throws {
    let home = try TestHome()
    let writer = try home.writer(rotateAt: limit)
    let text = (0..<200).map { "line \($0)\n" }.joined()
    for line in text.split(separator: "\n") {
      Array("\(line)\n".utf8).withUnsafeBytes { writer.capture($0, from: .standardOutput) }
    }
    try writer.end(.exit(3))
    let files = writer.files
    let parts = try files.parts()
    #expect(parts.isEmpty == (limit == 0))
    #expect(parts.allSatisfy { access($0.plain, F_OK) != 0 })
    var plain = PlainText()
    let printed = try stream(files).withUnsafeBytes { plain.add($0) } + plain.finish()
    #expect(String(decoding: printed, as: UTF8.self) == text)
    let length = try RecordedLog(files).extent().end
    #expect(try Sidecar.load(files.sidecar).fileSizeBytes == ByteCount(length))

    // The end record, in the live log or in the last part, states how it ended.
    var sidecar = try Sidecar.load(files.sidecar)
    sidecar.status = .active
    sidecar.cause = nil
    for isRotatedAway in [false, true] {
      if isRotatedAway {
        var log = try LiveLog(files, rotateAt: 1)
        _ = [UInt8]().withUnsafeBytes { log.append($0) }
        #expect(try FileStatus(files.log)?.length == 0)
      }
      let verdict = try Verdict.reach(
        sidecar: sidecar, files: files, lockGranted: true, machine: .current,
        now: home.clock.now(), logModified: home.clock.now())
      #expect(verdict?.cause == .exit(3))
    }
  }
}

import Foundation
import LogRecords
import Platform
import SessionLog
import TestSupport
import Testing

@testable import TidemarkLogging

/// Ten thousand records a second, for an hour of a clock that the test moves; for 20 s but with
/// `TIDEMARK_TEST_FULL`.
@Suite(.tags(.large)) struct LongHourTests {
  private static let isFull = ProcessInfo.processInfo.environment["TIDEMARK_TEST_FULL"] != nil

  /// The log stays within its disk limit, the process within its memory limit, and each byte is
  /// either in the log or in a GAP record's count.
  @Test func `10,000 records a second keep to the limits of disk and memory`() throws {
    let seconds: Int64 = Self.isFull ? 3_600 : 20
    // Space for half of the bytes written between two calls of ``takeParts()``, each after a
    // quarter of the time.
    let rotation: ByteCount = Self.isFull ? 10_000_000 : 100_000
    let limit = ByteCount(Int64(seconds) * 10_000 * 48 / 8)
    let clock = TestClock()
    let folder = try TestHome(clock: clock)
    // Without compression, which the library lacks.
    let home = Home(path: folder.folder + "/plain")
    try home.create()
    var options = RecordingOptions()
    options.leavesDiskToTick = true
    options.fsync = .never
    options.rotateAt = rotation
    options.localMax = limit
    let writer = try SessionWriter(
      home: home, device: Device.load(home, on: clock.machine), appName: "test", options: options,
      machine: clock.machine)
    let session = LogSession(
      writer: writer, problem: nil, capture: nil, console: nil, recordLevel: .trace,
      machine: clock.machine)
    let files = writer.files
    var tally = Tally()
    /// Counts the parts and deletes them, as a reaper does.
    func takeParts() throws {
      // The last one shows where the next begins.
      for part in try files.parts().dropLast() {
        try tally.add(part.plain)
        try File.remove(part.plain)
      }
    }
    var mostMemory: Int64 = 0
    var mostDisk: ByteCount = 0
    var before: Int64 = 0
    for second in 0..<seconds {
      for _ in 0..<10_000 { session.info("0123456789") }
      clock.advance(seconds: 1)
      writer.tick()
      mostDisk = max(mostDisk, try home.sessionBytes())
      if second == seconds / 10 { before = Self.residentBytes() }
      if second > seconds / 10 { mostMemory = max(mostMemory, Self.residentBytes()) }
      if second % max(1, seconds / 4) == seconds / 5 { try takeParts() }
    }
    session.end()
    for path in try files.parts().map(\.plain) + [files.log] { try tally.add(path) }
    let length = Tally.record.count + 25
    #expect(Int64(tally.written + tally.lost / length) == seconds * 10_000)
    #expect(tally.lost % length == 0 && tally.lost > 0 && tally.written > 0)
    // The log may exceed the limit by a second's records: it is checked once they have been
    // written.
    #expect(mostDisk <= limit + rotation + ByteCount(10_000 * length))
    // Other tests take memory too; all records of an hour would take 1.7 GB.
    #expect(!Self.isFull || mostMemory - before < 512 << 20, "\(before) \(mostMemory)")
  }

  private static func residentBytes() -> Int64 {
    let pages = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8))?
      .split(separator: " ").dropFirst().first.flatMap { Int64($0) }
    return (pages ?? 0) * 4096
  }
}

/// Number of records in a log, and of the bytes that its GAP records count.
private struct Tally {
  /// The text of each record after its time.
  static let record = Array(" [INFO] [App] 0123456789".utf8)

  var written = 0
  var lost = 0

  mutating func add(_ path: String) throws {
    let log = try Data(contentsOf: URL(filePath: path), options: .alwaysMapped)
    log.withUnsafeBytes { bytes in
      var rest = bytes
      while let end = LineSplitter.lineEnd(rest) {
        let line = rest.prefix(end).dropFirst(24)
        rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(end))
        if line.starts(with: Self.record) {
          written += 1
        } else if let gap = String(decoding: line, as: UTF8.self).firstMatch(
          of: /GAP ([0-9]+) bytes/)
        {
          lost += Int(gap.1) ?? 0
        }
      }
    }
  }
}

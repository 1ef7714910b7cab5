import Foundation
import LogRecords
import ObjectStore
import Platform
import Redaction
import Replica
import SessionLog
import SessionReading
import TestSupport
import Testing

@testable import Sync

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// What the suites of rotated sessions share.
protocol RotatedSessions {}

extension RotatedSessions {
  /// The size of a rotated part.
  static var limit: ByteCount { 3_000 }

  /// A site whose clock agrees with the times of files.
  func site() throws -> Site { try Site(clock: ShiftedTime.clock()) }

  func write(_ lines: Int, to writer: SessionWriter, _ random: inout SeededGenerator) {
    for _ in 0..<lines {
      let count = Int.random(in: 0..<300, using: &random)
      let line = [UInt8](repeating: 0x61, count: count) + [0x0a]
      line.withUnsafeBytes { writer.capture($0, from: .standardOutput) }
    }
  }

  /// Compresses the parts that the recorder has not, and waits for those it is compressing.
  func compressParts(of writer: SessionWriter) async throws {
    repeat {
      try writer.files.compressParts(format: .lines)
      await Task.yield()
    } while try writer.files.parts().contains { access($0.plain, F_OK) == 0 }
  }

  /// A running session that was sent while it was rotated several times.
  func sent(_ site: Site, seed: Int = 1) async throws -> SessionWriter {
    var random = SeededGenerator(case: seed, seed: 1)
    let writer = try site.local.writer(rotateAt: Self.limit)
    for _ in 0..<5 {
      write(Int.random(in: 5..<60, using: &random), to: writer, &random)
      try await site.upload()
    }
    try await compressParts(of: writer)
    let parts = try writer.files.parts()
    #expect(parts.count >= 3)
    // Ages follow the test's clock, not the time that the test takes.
    for part in parts {
      try FileManager.default.setAttributes(
        [.modificationDate: site.local.clock.now().date], ofItemAtPath: part.compressed)
    }
    return writer
  }

  func prune(_ site: Site, after age: Int64? = 86_400) async throws -> PrunePlan {
    var retention = Retention()
    retention.pruneAfter = age.map { .seconds($0) }
    let pruner = PartPruner(try site.context())
    let plan = try await pruner.plan(retention)
    #expect(try pruner.execute(plan).allSatisfy { $0.error == nil })
    return plan
  }

  /// A running session of which nothing was sent, with compressed parts, and its bytes.
  func unsent(_ site: Site, _ random: inout SeededGenerator) async throws -> (
    SessionWriter, [UInt8]
  ) {
    let writer = try site.local.writer(rotateAt: Self.limit)
    write(120, to: writer, &random)
    try await compressParts(of: writer)
    return (writer, try site.local.log(writer.session))
  }

  /// An ended session of which nothing was sent, with compressed parts, and the newest of these.
  func endedUnsent(_ site: Site) async throws -> (SessionWriter, LogPart) {
    var random = SeededGenerator(case: 3, seed: 1)
    let (writer, _) = try await unsent(site, &random)
    try writer.end(.exit(0))
    try await compressParts(of: writer)
    return (writer, try #require(try writer.files.parts().last))
  }

  /// Writes the beginning of a part in its place.
  func damage(_ part: String, as path: String) throws {
    let stored = try Data(contentsOf: URL(filePath: part))
    try stored.prefix(stored.count / 2).write(to: URL(filePath: path))
  }
}

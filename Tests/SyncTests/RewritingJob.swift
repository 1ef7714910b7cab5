import Foundation
import LogRecords
import Platform
import Replica
import SessionLog
import SessionReading
import TestSupport
import Testing

@testable import Sync

/// A job whose runs write one log, each over the one before.
protocol RewritingJob {
  /// Where the log is.
  var folder: AttachedFolder { get }
}

extension RewritingJob {
  /// The log of a job's run: as long as any other, and all the same but for one line.
  static func run(_ number: Int, _ event: String = "disk checked") -> String {
    (0..<3_000).map { line in
      let noise = String(UInt64(line) &* 0x9E37_79B9_7F4A_7C15, radix: 36)
      return line == 1_500 ? "run \(number): \(event)\n" : "step \(line) of the job \(noise)\n"
    }.joined()
  }

  func write(_ text: String) throws {
    try text.write(toFile: folder.file("job.log"), atomically: false, encoding: .utf8)
  }

  /// Sends several runs of the job.
  func send(_ runs: [String]) async throws -> SessionID {
    for text in runs {
      try write(text)
      try await folder.tick()
    }
    return try #require(try folder.sidecars().first?.sessionId)
  }

  func seal() async throws {
    try await folder.tick(after: 11 * 86_400)
    try await folder.tick()
    try await folder.expectSealed(1)
  }

  func reader(_ session: SessionID, _ generation: Int?) async throws -> SessionReader {
    let catalog = folder.site.local.catalog(try folder.site.context())
    let entry = try #require(
      try await catalog.find([session.description], devices: [folder.site.local.device.deviceId])
        .first ?? nil)
    return try SessionReader(entry, side: .remote, generation: generation, in: catalog) { _ in }
  }

  func read(_ session: SessionID, _ generation: Int?) async throws -> String {
    var bytes: [UInt8] = []
    _ = try await reader(session, generation).read(RecordChoice(RecordFilter()), .verified) {
      bytes += $0
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}

import Foundation
import Redaction
import TestSupport
import Testing

/// Text that looks like a secret but is not.
@Suite(.tags(.small)) struct LookAlikeTests {
  private static let environment = ProcessInfo.processInfo.environment

  private static func lines() throws -> [String] {
    let path = SecretCorpus.folder.appending(path: "lookalikes.txt")
    return try String(contentsOf: path, encoding: .utf8).split(separator: "\n").map(String.init)
  }

  private func masked(_ bytes: [UInt8]) -> [String] {
    Redactor.standard.redactions(in: bytes).map {
      "\($0.kind): \(String(decoding: bytes[$0.range], as: UTF8.self))"
    }
  }

  @Test func `text that resembles a secret is not masked`() throws {
    for line in try Self.lines() {
      #expect(masked(Array(line.utf8)) == [], "\(line)")
      #expect(masked(Array("\u{1b}[32m\(line)\u{1b}[0m".utf8)) == [], "coloured \(line)")
    }
  }

  /// Logs of real systems, which are not part of the repository.
  @Test(.enabled(if: environment["TIDEMARK_TEST_FULL"] != nil))
  func `nothing is masked in logs of real systems`() throws {
    let folder = try #require(
      Self.environment["TIDEMARK_SAMPLE_LOGS"],
      "set TIDEMARK_SAMPLE_LOGS to a folder of real logs, named *.log")
    let names = try FileManager.default.contentsOfDirectory(atPath: folder)
      .filter { $0.hasSuffix(".log") }
    #expect(!names.isEmpty, "no *.log in \(folder)")
    for name in names {
      let bytes = try #require(FileManager.default.contents(atPath: "\(folder)/\(name)"))
      #expect(masked(Array(bytes)) == [], "\(name)")
    }
  }
}

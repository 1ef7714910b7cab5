import Foundation
import LogRecords
import Platform
import Redaction
import SessionLog
@testable import Sync
import TestSupport
import Testing

/// Secrets planted in logs, searched for in every object of a store.
@Suite(.shiftedTime, .tags(.medium)) struct PlantedSecretsTests {
  private let folder: AttachedFolder

  init() throws { folder = try AttachedFolder("app.log") }

  /// The text that must not be found: the random bytes of each secret that the rules know, if there
  /// are many.
  private static func needles(_ samples: [SecretCorpus.Sample]) -> [[UInt8]] {
    samples.filter { $0.isFound(by: .standard) }.flatMap { sample in
      sample.secret.rangeView.filter { $0.count >= 12 }.map { Array(sample.line[$0]) }
    }
  }

  /// Long secrets with a terminal sequence in the middle; each half must not be found.
  private static func interrupted(
    _ samples: [SecretCorpus.Sample]
  ) -> (lines: [[UInt8]], needles: [[UInt8]]) {
    let sequences = ["\u{1b}[m\u{1b}[K", "\u{1b}(B", "\u{1b}]8;;https://example.org\u{1b}\\"]
    var (lines, needles): ([[UInt8]], [[UInt8]]) = ([], [])
    for (number, sample) in samples.enumerated() where sample.isFound(by: .standard) {
      guard let long = sample.secret.rangeView.first(where: { $0.count >= 24 }) else { continue }
      let middle = (long.lowerBound + long.upperBound) / 2
      let sequence = Array(sequences[number % sequences.count].utf8)
      lines.append(sample.line[..<middle] + sequence + sample.line[middle...])
      needles += [long.lowerBound..<middle, middle..<long.upperBound].map { Array(sample.line[$0]) }
    }
    return (lines, needles)
  }

  private func write(_ text: [UInt8]) throws {
    try Data(text).write(to: URL(filePath: folder.file("app.log")))
  }

  /// Every object, as stored and decompressed.
  private func stored() async throws -> [(name: String, bytes: [UInt8])] {
    let root = folder.site.local.folder + "/store"
    var found: [(name: String, bytes: [UInt8])] = []
    for name in try FileManager.default.subpathsOfDirectory(atPath: root) {
      guard let bytes = FileManager.default.contents(atPath: "\(root)/\(name)") else { continue }
      found.append((name, Array(bytes)))
      if name.hasSuffix(".zst") {
        let raw = try await Command(["/bin/sh", "-c", "zstd -dcq '\(root)/\(name)'"]).run()
        #expect(raw.status == 0, "\(name): \(raw.errors)")
        found.append((name + " decompressed", raw.output))
      }
    }
    return found
  }

  private func expectNone(of needles: [[UInt8]]) async throws -> [String] {
    let objects = try await stored()
    for (name, bytes) in objects {
      let data = Data(bytes)
      for needle in needles where data.range(of: Data(needle)) != nil {
        Issue.record("\(String(decoding: needle, as: UTF8.self)) is in \(name)")
      }
    }
    return objects.map(\.name)
  }

  @Test func `no object in a store contains a planted secret`() async throws {
    let samples = try SecretCorpus().samples
    let interrupted = Self.interrupted(samples)
    let needles = Self.needles(samples) + interrupted.needles
    #expect(needles.count > 150 && interrupted.lines.count > 80)
    func lines(_ numbers: Range<Int>) -> [[UInt8]] {
      numbers.map { number in
        let noise = UInt64(number) &* 0x9E37_79B9_7F4A_7C15
        return Array("2026-01-22T14:30:05Z INFO line \(number) \(String(noise, radix: 36))".utf8)
      }
    }
    func mixed(_ lines: [[UInt8]], every step: Int, with secrets: [[UInt8]]) -> [UInt8] {
      var secrets = secrets[...]
      return lines.enumerated().flatMap { number, line in
        let next = number % step == 0 ? secrets.popFirst().map { $0 + [0x0a] } : nil
        return (next ?? []) + line + [0x0a]
      }
    }
    // The first bytes sent, those that a rewrite inserts, and the end of an appended line.
    let all = samples.map(\.line) + interrupted.lines
    let first = all.enumerated().filter { $0.offset % 2 == 0 }.map(\.element)
    try write(mixed(lines(0..<6000), every: 25, with: first))
    try await folder.tick()
    #expect(try await !expectNone(of: needles).isEmpty)
    let kept = mixed(lines(0..<6000), every: 25, with: first).prefix(200_000)
    try write(kept + [0x0a] + mixed(lines(6000..<9000), every: 8, with: all))
    try await folder.tick()
    let names = try await expectNone(of: needles)
    #expect(names.contains { $0.contains(".delta.zst") }, "\(names)")
    try folder.append("2026-01-22T14:30:06Z INFO one more\n", to: "app.log")
    try await folder.tick(after: 11 * 86_400)
    try await folder.tick()
    try await folder.expectSealed(1)
    _ = try await expectNone(of: needles)
  }

  /// A category is free text, and is in the log, in the sidecar and in the seal.
  @Test func `no category of a record contains a planted secret`() async throws {
    let token = "ghp_0123456789abcdefghijABCDEFGHIJ012345"
    let site = folder.site
    try site.local.enable(token)
    let writer = try site.local.writer()
    writer.record(.info, category: token, "of \(token)", scenario: ScenarioName(token))
    try writer.end(.exit(0))
    try await site.upload()
    let names = try await expectNone(of: [Array(token.utf8)])
    #expect(names.contains { $0.hasSuffix(".json") })
  }
}

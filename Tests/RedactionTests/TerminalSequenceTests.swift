import Foundation
import LogRecords
import TestSupport
import Testing

@testable import Redaction

/// Secrets that terminal sequences interrupt.
@Suite(.tags(.small)) struct TerminalSequenceTests {
  /// As programs write them between two characters.
  static let sequences = [
    "\u{1b}[K", "\u{1b}[m\u{1b}[K", "\u{1b}[01;31m\u{1b}[K", "\u{1b}(B\u{1b}[m", "\u{1b}[m\u{f}",
    "\u{1b}[38:2::" + String(repeating: "10:", count: 20) + "1m", "\u{1b}[?25h", "\u{1b}[1 q",
    "\u{1b}7", "\u{1b}]8;;https://example.org/a\u{1b}\\", "\u{1b}]8;;\u{1b}\\",
    "\u{1b}]0;title\u{7}", "\u{1b}P1$r0m\u{1b}\\", "\u{1b}%G",
  ]

  private static func isHidden(
    _ sample: SecretCorpus.Sample, with sequence: String, at places: Set<Int>
  ) -> Bool {
    var line: [UInt8] = []
    var secret: Set<Int> = []
    for (place, byte) in sample.line.enumerated() {
      if places.contains(place) { line += sequence.utf8 }
      if sample.secret.contains(place) { secret.insert(line.count) }
      line.append(byte)
    }
    var masked: Set<Int> = []
    for redaction in Redactor.standard.redactions(in: line) { masked.formUnion(redaction.range) }
    return secret.isSubset(of: masked)
  }

  @Test(arguments: sequences.indices)
  func `every secret of the corpus is masked with sequences inside`(number: Int) throws {
    let samples = try SecretCorpus().samples.filter {
      !$0.line.contains(TerminalSequences.escape) && $0.isFound(by: .standard)
    }
    #expect(samples.count > 200)
    for (index, sample) in samples.enumerated() {
      let first = max(0, (sample.secret.first ?? 0) - 12)
      let places = Array(first...max(first, sample.secret.last ?? 0))
      var sets = (0..<3).map { phase in Set(places.filter { $0 % 3 == phase }) }
      // One alone, each sequence with a share of the samples.
      if index % Self.sequences.count == number { sets += places.map { [$0] } }
      for set in sets {
        let isHidden = Self.isHidden(sample, with: Self.sequences[number], at: set)
        #expect(
          isHidden, "\(String(decoding: sample.line, as: UTF8.self)) at \(set.sorted())")
      }
    }
  }

  @Test(arguments: sequences)
  func `a private key is masked with sequences in its header and lines`(_ sequence: String) {
    let line = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7abcdefghABC="
    func broken(_ text: String) -> String {
      text.enumerated().map { $0.offset % 3 == 2 ? sequence + String($0.element) : "\($0.element)" }
        .joined()
    }
    let begin = "-----BEGIN RSA PRIVATE KEY-----"
    let end = "-----END RSA PRIVATE KEY-----"
    let after = ["word", "another word", "0123456789"]
    for (header, body, footer) in [
      (broken(begin), line, end), (begin, broken(line), end),
      (broken(begin), broken(line), broken(end)), ("\(sequence)\(begin)", line, end),
    ] {
      let lines = [header] + Array(repeating: body, count: 5) + [footer] + after
      for prefix in ["", "2026-01-22T14:30:05.123Z [INFO] [stdout] "] {
        let text = lines.map { prefix + $0 + "\n" }.joined()
        let masked = String(
          decoding: Redactor.standard.redacted(Array(text.utf8), format: .lines), as: UTF8.self)
        #expect(!masked.contains("MI") && !masked.contains("BKc"), "\(masked)")
        #expect(masked.hasSuffix(after.map { prefix + $0 + "\n" }.joined()), "\(masked)")
      }
    }
  }

  /// What was sent under an engine must be reproduced by it.
  @Test func `older engines see through what they did`() throws {
    let rules = Redactor.standard.rules.rules
    let token = Array("token ghp_0123456789\u{1b}[KabcdefghijABCDEFGHIJ012345 x".utf8)
    let colour = Array("token ghp_0123456789\u{1b}[1mabcdefghijABCDEFGHIJ012345 x".utf8)
    let key = Array("-----BEGIN \u{1b}[1mPRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG\n".utf8)
    let long = Array("://user:\(String(repeating: "x", count: 1100))@host".utf8)
    for (engine, counts) in [(1, [0, 0, 0, 0]), (2, [0, 1, 0, 0]), (3, [1, 1, 1, 1])] {
      let redactor = try Redactor(RedactionRules(rules, engine: engine))
      let found = [token, colour, key, long].map { redactor.redactions(in: $0).count }
      #expect(found == counts, "engine \(engine)")
    }
  }

  @Test(arguments: sequences)
  func `a secret with a sequence inside is held back wherever the text ends`(_ sequence: String)
    throws
  {
    let keys = "-----BEGIN PRIVATE \(sequence)KEY-----\n\(sequence)MIIEvQIBADANBgkqhkiG\n"
    let token = "see ghp_01234\(sequence)56789abcdefghijA\(sequence)BCDEFGHIJ012345 used\n"
    for text in [token, "\(keys)-----END \(sequence)PRIVATE KEY-----\n"] {
      let whole = Array(text.utf8)
      let masked = Redactor.standard.redacted(whole)
      for cut in whole.indices {
        var now = Array(whole[..<cut])
        let settled = Redactor.standard.settled(now, at: 0, .asIs)
        _ = Redactor.standard.mask(&now, at: 0, .asIs)
        #expect(now[..<settled] == masked[..<settled], "cut at \(cut), settled \(settled)")
      }
    }
    let open = "x\n-----BEGIN PRIV\(sequence)ATE KEY-----\n"
    #expect(Redactor.standard.settled(Array(open.utf8), at: 0, .asIs) == 2)
    #expect(Redactor.standard.decisiveStart(in: Array(open.utf8)) == 0)
  }

  @Test func `a string without an end is text`() {
    let text = "token ghp_0123456789\u{1b}]abcdefghijABCDEFGHIJ012345\n"
    let masked = String(decoding: Redactor.standard.redacted(Array(text.utf8)), as: UTF8.self)
    #expect(masked == "token [REDACTED:github\(String(repeating: "*", count: 25))]\n")
  }

  @Test(arguments: [
    ("eyJ" + String(repeating: "a1B", count: 4000) + ".eyJzdWIiOiIx.dozjgNryP4J3", ""),
    ("eyJhbGciOiJIUzI1NiJ9." + String(repeating: "a1B", count: 9000) + ".dozjgNryP4J3", ""),
    (String(repeating: "p4s", count: 1000), "postgres://app:"),
    (String(repeating: "p4sS", count: 2000), "DB_PASSWORD="),
    (String(repeating: "a1B", count: 3000), "authorization: Basic "),
    (String(repeating: "a1B", count: 3000), "secret_access_key = "),
  ])
  func `a value longer than its rule's maximum is masked to its end`(secret: String, name: String) {
    let text = "\(name)\(secret)@db ok"
    let masked = String(decoding: Redactor.standard.redacted(Array(text.utf8)), as: UTF8.self)
    #expect(masked.hasPrefix("\(name)[REDACTED:"))
    let rest = masked.drop { $0 != "*" }.drop { $0 == "*" }
    #expect(["]@db ok", "] ok"].contains(String(rest)), "\(rest)")
  }

  @Test(arguments: ["eyJ", "eyJhbGciOiJIUzI1NiJ9.", "://app:", "DB_PASSWORD=", "Bearer "])
  func `a value without an end is masked as far as its rule reaches`(name: String) throws {
    let long = [UInt8]("\(name)\(String(repeating: "a1B", count: 14_000))".utf8)
    var masked = long
    let found = Redactor.standard.mask(&masked, at: 0, .asIs)
    let end = try #require(found.last).range.upperBound
    #expect(end - RedactionPass.reach <= name.utf8.count && end >= RedactionPass.reach)
    #expect(Redactor.standard.settled(long, at: 0, .asIs) <= name.utf8.count)
  }
}

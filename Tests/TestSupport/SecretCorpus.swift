package import Foundation
package import Redaction

/// Secrets made from formats that their vendors publish, in typical log lines.
///
/// `Corpus/formats.json` contains the formats; the random parts are generated from a fixed seed, so
/// that no file of the repository contains text that a secret scanner rejects.
package struct SecretCorpus {
  /// A row of `Corpus/formats.json`.
  package struct Format: Decodable {
    package let vendor: String
    package let name: String
    /// Literal text, and `{set:count}` for a number of random bytes of a set.
    package let form: String
    /// Where the format is published.
    package let source: String
    /// Lines of a log: `%s` is the secret, `%1` and `%2` are its halves.
    package let lines: [String]
  }

  /// A secret in its line.
  package struct Sample {
    package let vendor: String
    package let name: String
    package let line: [UInt8]
    /// Positions in the line of the bytes that must be hidden: the random ones.
    package let secret: IndexSet
    /// Whether it is held back: the rules are written without checking how these fare.
    package let isHeldBack: Bool

    /// Whether a redactor masks all of the secret in its line.
    package func isFound(by redactor: Redactor) -> Bool {
      var masked = IndexSet()
      for redaction in redactor.redactions(in: line) { masked.insert(integersIn: redaction.range) }
      return secret.isSubset(of: masked)
    }
  }

  /// The folder of its files.
  package static let folder = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "Corpus")

  /// The formats.
  package let formats: [Format]
  /// In the order of the formats.
  package let samples: [Sample]

  /// Reads the formats, of which every third is held back with all of its lines.
  package init() throws {
    let data = try Data(contentsOf: Self.folder.appending(path: "formats.json"))
    formats = try JSONDecoder().decode([Format].self, from: data)
    samples = formats.enumerated().flatMap { number, format in
      format.lines.enumerated().map { line, text in
        var random = SeededGenerator(case: number * 100 + line, seed: 1)
        let secret = Self.secret(format.form, &random)
        let (bytes, places) = Self.fill(text, with: secret)
        return Sample(
          vendor: format.vendor, name: format.name, line: bytes, secret: places,
          isHeldBack: number % 3 == 2)
      }
    }
  }

  private typealias Secret = [(byte: UInt8, isRandom: Bool)]

  private static func secret(_ form: String, _ random: inout SeededGenerator) -> Secret {
    var secret: Secret = []
    var rest = form[...]
    while let open = rest.firstIndex(of: "{"), let close = rest[open...].firstIndex(of: "}"),
      let colon = rest[open..<close].lastIndex(of: ":"),
      let count = Int(rest[rest.index(after: colon)..<close])
    {
      secret += rest[..<open].utf8.map { ($0, false) }
      let set = members(rest[rest.index(after: open)..<colon])
      secret += (0..<count).map { _ in (set.randomElement(using: &random) ?? 0, true) }
      rest = rest[rest.index(after: close)...]
    }
    return secret + rest.utf8.map { ($0, false) }
  }

  /// The bytes of a set: `A-Za-z0-9_-`.
  private static func members(_ expression: Substring) -> [UInt8] {
    var bytes = Array(expression.utf8)[...]
    var members: [UInt8] = []
    while let first = bytes.popFirst() {
      var last = first
      if bytes.count > 1, bytes.first == UInt8(ascii: "-") {
        last = bytes[bytes.startIndex + 1]
        bytes = bytes.dropFirst(2)
      }
      members += Array(first...last)
    }
    return members
  }

  private static func fill(
    _ text: String, with secret: Secret
  ) -> (line: [UInt8], secret: IndexSet) {
    let half = secret.count / 2
    var line: [UInt8] = []
    var places = IndexSet()
    var rest = Array(text.utf8)[...]
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%"), let mark = rest.first else {
        line.append(byte)
        continue
      }
      let part: Secret? =
        switch mark {
        case UInt8(ascii: "s"): secret
        case UInt8(ascii: "1"): Array(secret[..<half])
        case UInt8(ascii: "2"): Array(secret[half...])
        default: nil
        }
      guard let part else {
        line.append(byte)
        continue
      }
      rest = rest.dropFirst()
      for (byte, isRandom) in part {
        if isRandom { places.insert(line.count) }
        line.append(byte)
      }
    }
    return (line, places)
  }
}

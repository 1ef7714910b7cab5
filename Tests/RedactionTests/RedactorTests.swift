import LogRecords
import Redaction
import TestSupport
import Testing

@Suite(.tags(.small)) struct RedactorTests {
  /// Sample text without its brackets, its masked form, and whether its kind fits.
  private func expected(_ sample: (text: String, kind: String)) throws -> (
    raw: String, masked: String
  ) {
    let start = try #require(sample.text.firstIndex(of: "<"))
    let end = try #require(sample.text.lastIndex(of: ">"))
    let head = sample.text[..<start]
    let tail = sample.text[sample.text.index(after: end)...]
    let secret = sample.text[sample.text.index(after: start)..<end]
    let room = secret.utf8.count - "[REDACTED:\(sample.kind)]".count
    let mask =
      room >= 0
      ? "[REDACTED:\(sample.kind)" + String(repeating: "*", count: room) + "]"
      : String(repeating: "*", count: secret.utf8.count)
    return ("\(head)\(secret)\(tail)", "\(head)\(mask)\(tail)")
  }

  private func redacted(_ text: String, _ redactor: Redactor = .standard) -> String {
    String(decoding: redactor.redacted(Array(text.utf8)), as: UTF8.self)
  }

  @Test func `a value beside its name in XML is masked`() {
    let text = "<name>fs.s3a.secret.key</name><value>wJalrXUtnFEMI/K7MDENG</value>"
    #expect(
      redacted(text) == text.replacing("wJalrXUtnFEMI/K7MDENG", with: "[REDACTED:secret****]"))
  }

  @Test(arguments: RedactionSamples.found.indices)
  func `built-in rules mask their samples`(number: Int) throws {
    let (raw, masked) = try expected(RedactionSamples.found[number])
    #expect(redacted(raw) == masked)
    #expect(redacted("é\0\n" + raw + "\n" + raw + "\n") == "é\0\n\(masked)\n\(masked)\n")
  }

  @Test(arguments: RedactionSamples.innocent)
  func `text without secrets stays unchanged`(_ text: String) {
    #expect(redacted(text) == text)
  }

  @Test func `optional rules mask email addresses and card numbers`() throws {
    let redactor = try Redactor(RedactionRules(groups: ["email", "cards"]))
    #expect(redacted("from a.b+c@example.org to x", redactor) == "from [REDACTED:email*] to x")
    #expect(redacted("card 4111 1111 1111 1111.", redactor) == "card [REDACTED:card****].")
    for text in ["card 4111 1111 1111 1112.", "12345678901234567890123", "a@b", "2026-01-22 14:30"]
    {
      #expect(redacted(text, redactor) == text)
    }
    #expect(redacted("AKIAIOSFODNN7EXAMPLE", redactor) == "AKIAIOSFODNN7EXAMPLE")
  }

  private static let key = Array(
    repeating: "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7abcdefghABC=", count: 5)

  @Test(arguments: [LogFormat.asIs, .lines])
  func `a private key is masked line by line, foreign lines excepted`(format: LogFormat) throws {
    let prefix = format == .lines ? "2026-01-22T14:30:05.123Z [INFO] [stdout] " : ""
    let foreign = ["other thread says hello", "and again"]
    let lines =
      ["x", "-----BEGIN RSA PRIVATE KEY-----"] + Self.key[..<3] + foreign + Self.key[3...]
      + ["-----END RSA PRIVATE KEY-----", "word"]
    let text = lines.map { prefix + $0 + "\n" }.joined()
    let mask = "[REDACTED:private-key" + String(repeating: "*", count: 64 - 22) + "]"
    let expected = lines.map { prefix + (Self.key.contains($0) ? mask : $0) + "\n" }.joined()
    let out = Redactor.standard.redacted(Array(text.utf8), format: format)
    #expect(String(decoding: out, as: UTF8.self) == expected)
  }

  @Test(arguments: [
    ("", ""), ("web_1  | ", ""), ("2026-01-22 14:30:05 app ", " thread=main"), ("", "<br>"),
    ("  '", "\\n' +"), ("msg=\"", "\" ts=1"), ("\u{1b}[32m+", "\u{1b}[0m"), ("-", "$"),
    (#"{"log":""#, #"\n","stream":"stdout","time":"2026-01-22T14:30:05.123Z"}"#),
  ]) func `a private key is masked between any prefix and suffix`(before: String, after: String) {
    // Its last line is a short one, with other programs' lines between.
    let lines = Array(repeating: Self.key[0], count: 140) + ["QIDAQAB="]
    let torn = lines.flatMap { ["\(before)\($0)\(after)", "3 of 4 threads are idle"] }
    let text = (["-----BEGIN RSA PRIVATE KEY-----\(after)"] + torn).joined(separator: "\n")
    let masked = redacted("\(before)\(text)\n\(before)-----END RSA PRIVATE KEY-----\n")
    #expect(!masked.contains("MIIEv") && !masked.contains("QIDAQAB"))
    #expect(masked.contains("\n3 of 4 threads are idle\n"))
  }

  @Test func `a custom rule masks its first capture group`() throws {
    let rule = try RedactionRule(kind: "customer", near: "customer=", pattern: #"customer=(\d+)"#)
    let redactor = try Redactor(RedactionRules(groups: [], own: [rule]))
    #expect(redacted("a customer=1234, customer=x", redactor) == "a customer=****, customer=x")
    let long = "customer=" + String(repeating: "7", count: 30)
    #expect(redacted(long, redactor) == "customer=[REDACTED:customer***********]")
  }

  @Test func `an expression that takes too long masks all of its input`() throws {
    let rule = try RedactionRule(kind: "slow", near: "aaa", pattern: "(a+)+b")
    let redactor = try Redactor(RedactionRules(groups: [], own: [rule]))
    let line = String(repeating: "a", count: 3000)
    let out = redacted("before\n\(line)\nafter\n", redactor)
    #expect(out.hasPrefix("before\n[REDACTED:slow***"))
    #expect(out.hasSuffix("*]\nafter\n") && !out.contains("aa"))
  }

  @Test(arguments: [
    ("Kind", "abc", "x"), ("", "abc", "x"), ("k", "ab", "x"), ("k", "a\nb", "x"), ("k", "abc", "("),
    ("k", "abc", ""), (String(repeating: "k", count: 25), "abc", "x"),
  ]) func `an invalid custom rule is refused`(kind: String, near: String, pattern: String) {
    #expect(throws: RedactionError.self) {
      try RedactionRule(kind: kind, near: near, pattern: pattern)
    }
  }

  @Test func `a rule set survives its conversion to JSON`() throws {
    let rules = try RedactionSamples.rules()
    #expect(try RedactionRules(json: rules.json()) == rules)
    #expect(Set(BuiltInRules.all.map(\.group)).count == BuiltInRules.all.count)
    #expect(BuiltInRules.all.filter { !$0.isOnByDefault }.map(\.group) == ["email", "cards"])
  }

  // MARK: Properties

  @Test(arguments: SeededGenerator.cases(120))
  func `the masks of a range do not depend on where reading starts`(number: Int) throws {
    var random = SeededGenerator(case: number)
    let redactor = try Redactor(RedactionSamples.rules())
    let format: LogFormat = Bool.random(using: &random) ? .lines : .asIs
    let raw = RedactionSamples.hostile(Int.random(in: 1...160_000, using: &random), &random)
    var whole = raw
    let redactions = redactor.mask(&whole, at: 0, format)
    #expect(whole.count == raw.count)
    #expect(zip(raw, whole).allSatisfy { ($0 == 0x0a) == ($1 == 0x0a) })
    let isStable = redactor.redacted(whole, format: format) == whole
    #expect(isStable)
    for _ in 0..<8 {
      let start = Int.random(in: 0..<raw.count, using: &random)
      let end = min(raw.count, start + Int.random(in: 1...9000, using: &random))
      let farthest = max(0, start - Redactor.context)
      let line = raw[(end - 1)...].firstIndex(of: 0x0a).map { $0 + 1 } ?? raw.count
      let last = min(line, end + Redactor.context)
      let decisive = farthest + redactor.decisiveStart(in: Array(raw[farthest..<start]))
      for first in [farthest, decisive] {
        var part = Array(raw[first..<last])
        let found = redactor.mask(&part, at: Int64(first), format)
        let isSame = part[start - first..<end - first] == whole[start..<end]
        #expect(isSame)
        let kinds = found.map { ($0.range.lowerBound + first, $0.kind) }.filter {
          start..<end ~= $0.0
        }
        let expected = redactions.filter { start..<end ~= $0.range.lowerBound }
        #expect(kinds.map(\.0) == expected.map(\.range.lowerBound))
        #expect(kinds.map(\.1) == expected.map(\.kind))
      }
    }
  }

  @Test(arguments: SeededGenerator.cases(120))
  func `settled bytes do not depend on the following ones`(number: Int) throws {
    var random = SeededGenerator(case: number)
    let rules = Bool.random(using: &random) ? try RedactionSamples.rules() : RedactionRules()
    let redactor = try Redactor(rules)
    let format: LogFormat = Bool.random(using: &random) ? .lines : .asIs
    let raw = RedactionSamples.hostile(Int.random(in: 1...70_000, using: &random), &random)
    for _ in 0..<12 {
      let cut = Int.random(in: 0...raw.count, using: &random)
      var now = Array(raw[..<cut])
      let settled = redactor.settled(now, at: 0, format)
      #expect((0...cut).contains(settled) && cut - settled <= Redactor.context)
      _ = redactor.mask(&now, at: 0, format)
      let rest =
        Bool.random(using: &random) ? Array(raw[cut...]) : RedactionSamples.hostile(500, &random)
      let later = redactor.redacted(raw[..<cut] + rest, format: format)
      let isSame = now[..<settled] == later[..<settled]
      #expect(isSame)
    }
  }

  /// A token would extend over it.
  @Test func `the end line of a private key is never masked`() throws {
    // Other rules wait for what may follow a word.
    let keys = try Redactor(RedactionRules(groups: ["private-keys", "jwt"]))
    let token = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIx.dozjgNryP4J3"
    let header = "x\n-----BEGIN PRIVATE KEY-----\(token)-----END PRIVATE KEY-----\n"
    #expect(redacted(header).hasSuffix("*]-----END PRIVATE KEY-----\n"))
    let next = Array("\(header)MII".utf8)
    #expect(keys.settled(next, at: 0, .asIs) == next.count)
    let between = "-----BEGIN PRIVATE KEY-----\nBasic: authorization: basic dTpw-----END\nMIIEvQ\n"
    #expect(redacted(between).hasSuffix("basic ****-----END\nMIIEvQ\n"))
  }

  @Test func `a mask inside a private key header starts after BEGIN`() throws {
    let rule = try RedactionRule(kind: "word", near: "EGIN", pattern: "(EGIN x+)")
    let redactor = try Redactor(RedactionRules(groups: [], own: [rule]))
    #expect(redacted("a -----BEGIN xxx\nBEGIN xxx\n", redactor) == "a -----BEGIN****\nB********\n")
  }

  /// What was sent under an engine must be reproduced by it.
  @Test(arguments: [(3, 3, 0), (3, 4, 1), (4, 4, 0), (4, 64, 0), (4, 65, 1)])
  func `lines of other programs within a private key do not end it`(
    engine: Int, count: Int, unmasked: Int
  ) throws {
    let next = String(repeating: "QUJD", count: 16)
    let lines =
      ["-----BEGIN PRIVATE KEY-----", Self.key[0]]
      + Array(repeating: "worker 1: request done", count: count) + [next]
    let text = lines.joined(separator: "\n") + "\n"
    let redactor = try Redactor(RedactionRules(RedactionRules().rules, engine: engine))
    let result = redacted(text, redactor)
    #expect(result.contains(next) == (unmasked == 1) && !result.contains(Self.key[0]))
    #expect(result.split(separator: "\n").count { $0.hasPrefix("worker 1") } == count)
  }

  /// Those of certificates, and another whole key, as where two programs print into one log.
  @Test(arguments: [
    ["expected -----BEGIN CERTIFICATE----- in file"],
    ["-----BEGIN CERTIFICATE-----", "QUJD", "-----END CERTIFICATE-----"],
    [
      "-----BEGIN RSA PRIVATE KEY-----", String(repeating: "QUJD", count: 16),
      "-----END RSA PRIVATE KEY-----",
    ],
    [#"{"private_key":"-----BEGIN PRIVATE KEY-----\nQUJD\n-----END PRIVATE KEY-----\n"}"#],
    [#"ERROR: expected "-----END PRIVATE KEY-----" in /etc/x.pem"#],
    ["put it between -----BEGIN PRIVATE KEY----- and -----END PRIVATE KEY-----"],
    ["-----END RSA PRIVATE KEY-----"],
    [
      "-----BEGIN PRIVATE KEY-----", String(repeating: "QUJD", count: 16),
      "-----END PRIVATE KEY----- -----BEGIN PRIVATE KEY-----", String(repeating: "QUJD", count: 16),
      "-----END PRIVATE KEY-----",
    ],
  ])
  func `headers and footers of others within a private key do not end it`(others: [String]) {
    let rest = String(repeating: "TUlJ", count: 16)
    let lines =
      ["-----BEGIN PRIVATE KEY-----", Self.key[0]] + others
      + [rest, "-----END PRIVATE KEY-----", "after"]
    let result = redacted(lines.joined(separator: "\n") + "\n", .standard)
    #expect(!result.contains(rest) && result.hasSuffix("-----END PRIVATE KEY-----\nafter\n"))
  }

  @Test(arguments: [
    ("{\"msg\":\"", "\",\"level\":\"info\"}"), ("{\"msg\":\"", "\\n\"}"),
    ("{\"log\":\"05:01 app: ", "\\n\",\"stream\":\"stdout\"}"), ("\u{1b}[32m", "\u{1b}[0m"),
    ("<p>", "</p>"), ("read line '", "' ok"), ("a,", ",b"),
  ])
  func `a key within other text ends with its footer`(before: String, after: String) {
    let digest = String(repeating: "c0ffee", count: 10)
    let lines = ["-----BEGIN PRIVATE KEY-----", Self.key[0], "-----END PRIVATE KEY-----"]
      .map { before + $0 + after }
    let text = (lines + ["sha256 \(digest)"]).joined(separator: "\n") + "\n"
    let result = redacted(text, .standard)
    #expect(!result.contains(Self.key[0]) && result.hasSuffix("sha256 \(digest)\n"))
  }

  /// As without a line break, or with escaped ones in lines that were cut.
  @Test(
    arguments: [
      ["-----BEGIN PRIVATE KEY-----", "SECRET-----END PRIVATE KEY-----"],
      ["-----BEGIN PRIVATE KEY-----", "SECRET -----END PRIVATE KEY-----"],
      ["-----BEGIN PRIVATE KEY-----", RedactorTests.key[0], "SECRET-----END PRIVATE KEY-----"],
      ["-----BEGIN PRIVATE KEY-----", RedactorTests.key[0], "SECRET -----END PRIVATE KEY-----"],
      ["-----BEGIN PRIVATE KEY-----", "\(RedactorTests.key[0]) SECRET -----END PRIVATE KEY-----"],
      [
        "app: -----BEGIN PRIVATE KEY-----", "app: \(RedactorTests.key[0])",
        "app: SECRET-----END PRIVATE KEY-----",
      ],
      [
        #"["-----BEGIN PRIVATE KEY-----","#, "\"\(RedactorTests.key[0])\",",
        #""SECRET","-----END PRIVATE KEY-----"]"#,
      ],
      [#"{"key":"-----BEGIN PRIVATE KEY-----\nMII"#, #"SECRET\n-----END PRIVATE KEY-----\n"}"#],
      [
        #"{"key":"-----BEGIN PRIVATE KEY-----"#, RedactorTests.key[0],
        #"SECRET\n-----END PRIVATE KEY-----\n"}"#,
      ],
      [
        "-----BEGIN PRIVATE KEY-----", RedactorTests.key[0], "SECRET-----BEGIN CERTIFICATE-----",
        "-----END PRIVATE KEY-----",
      ],
      [
        "-----BEGIN PRIVATE KEY-----", RedactorTests.key[0],
        "-----END CERTIFICATE-----\(RedactorTests.key[0])SECRET", "-----END PRIVATE KEY-----",
      ],
      [
        "-----BEGIN PRIVATE KEY-----", RedactorTests.key[0],
        "SECRET-----BEGIN RSA PRIVATE KEY-----\(RedactorTests.key[0])",
        "-----END RSA PRIVATE KEY-----", "-----END PRIVATE KEY-----",
      ],
    ], ["BgkqQIDAQAB=", RedactorTests.key[1]])
  func `what of a key is in one line with a header or footer is masked`(
    lines: [String], secret: String
  ) {
    let text = lines.map { $0.replacing("SECRET", with: secret) + "\n" }.joined()
    let masked = redacted(text + "after\n", .standard)
    #expect(!masked.contains(secret) && masked.hasSuffix("\nafter\n"), "\(masked)")
    #expect(masked.ranges(of: "-----").count == text.ranges(of: "-----").count)
  }

  @Test func `words before the footer of a key and text after it are not masked`() {
    let rest = String(repeating: "c0ffee", count: 10)
    for (before, after) in [
      ("12:00:01 INFO ", ""), ("app INFO: ", " \(rest)"), ("level=info msg=\"", "\""),
    ] {
      let lines = ["-----BEGIN PRIVATE KEY-----", Self.key[0], "-----END PRIVATE KEY-----"]
      let text = lines.map { before + $0 + after + "\n" }.joined()
      let expected = text.replacing(
        Self.key[0], with: "[REDACTED:private-key" + String(repeating: "*", count: 42) + "]")
      #expect(
        redacted(text, .standard).split(separator: "\n").last
          == expected.split(separator: "\n").last)
    }
    let quoted =
      "-----BEGIN PRIVATE KEY-----\n\(Self.key[0])\nexpected -----BEGIN CERTIFICATE-----\n"
    #expect(redacted(quoted, .standard).hasSuffix("\nexpected -----BEGIN CERTIFICATE-----\n"))
  }

  /// Those of a key with more fields than lines of other programs may be there.
  @Test func `the fields of a key after a prefix do not count as lines of others`() {
    let fields = ["Comment: one", "Comment: two", "Comment: three", "Comment: four", ""]
    let lines =
      ["-----BEGIN PGP PRIVATE KEY BLOCK-----"] + fields + ["worker 1", Self.key[0]]
      + ["-----END PGP PRIVATE KEY BLOCK-----"]
    let text = lines.map { "stdout F \($0)\n" }.joined()
    #expect(!redacted(text, .standard).contains(Self.key[0]))
  }

  @Test func `text that may still become a private key is not settled`() throws {
    let keys = try Redactor(RedactionRules(groups: ["private-keys"]))
    let foreign = "x\n-----BEGIN PRIVATE KEY-----\na b\na b\na b\n"
    let cut = Array("\(foreign)MIIEvQIBADANBgkqhkiG9w0BAQEFAA".utf8)
    #expect(Redactor.standard.settled(cut, at: 0, .asIs) == 2)
    let over = Array("\(foreign)a b\nMIIEvQ".utf8)
    #expect(keys.settled(over, at: 0, .asIs) == over.count)
  }

  @Test(arguments: ["from annab@", "from anna.b@", "from annab@example", "from anna.b@example."])
  func `an incomplete email address is not settled`(text: String) throws {
    let redactor = try Redactor(RedactionRules(groups: ["email"]))
    #expect(redactor.settled(Array(text.utf8), at: 0, .asIs) <= 5)
  }

  @Test func `an incomplete key or password is not settled`() {
    let text = Array("x\n-----BEGIN PRIVATE KEY-----\n\(Self.key[0])\n".utf8)
    #expect(Redactor.standard.settled(text, at: 0, .asIs) == 2)
    let ended = text + Array("-----END PRIVATE KEY-----\n".utf8)
    #expect(Redactor.standard.settled(ended, at: 0, .asIs) == ended.count)
    let foreign = text + Array(String(repeating: "a b\n", count: 65).utf8)
    #expect(Redactor.standard.settled(foreign, at: 0, .asIs) == foreign.count)
    #expect(Redactor.standard.settled(Array(foreign.dropLast(4)), at: 0, .asIs) == 2)
    #expect(Redactor.standard.settled(Array("Password: ".utf8), at: 0, .asIs) == 10)
    #expect(Redactor.standard.settled(Array("x AKIAIOSF".utf8), at: 0, .asIs) == 2)
  }

  @Test func `the second engine blanks a secret in a category and keeps the record readable`()
    throws
  {
    let token = "ghp_0123456789abcdefghijABCDEFGHIJ012345"
    let stars = String(repeating: "*", count: token.utf8.count)
    let line = "2026-01-22T14:30:05.000Z [INFO] [\(token)] {checkout} of \(token)\n"
    let masked = Redactor.standard.redacted(Array(line.utf8), format: .lines)
    let prefix = try #require(masked.withUnsafeBytes { RecordPrefix.parse($0) })
    #expect(masked[prefix.category].elementsEqual(stars.utf8))
    #expect(!masked.contains(Array("ghp_".utf8)))
    #expect(Redactor.standard.redacted(masked, format: .lines) == masked)
    #expect(Redactor.standard.redactedCategory(token) == stars)

    let first = try Redactor(RedactionRules(Redactor.standard.rules.rules, engine: nil))
    let before = first.redacted(Array(line.utf8), format: .lines)
    #expect(before.contains(Array("[\(token)]".utf8)))
  }

  @Test(arguments: SeededGenerator.cases(200))
  func `record prefixes are never masked`(number: Int) throws {
    var random = SeededGenerator(case: number)
    let redactor = try Redactor(RedactionSamples.rules())
    let raw = RedactionSamples.hostile(20_000, &random)
    let masked = redactor.redacted(raw, format: .lines)
    var line = 0
    for (number, byte) in raw.enumerated() where byte == 0x0a || number == raw.count - 1 {
      if let prefix = raw[line...number].withUnsafeBytes({ RecordPrefix.parse($0) }) {
        for place in 0..<prefix.capturedLength where raw[line + place] != masked[line + place] {
          #expect(prefix.category.contains(place) && masked[line + place] == UInt8(ascii: "*"))
        }
      }
      line = number + 1
    }
  }
}

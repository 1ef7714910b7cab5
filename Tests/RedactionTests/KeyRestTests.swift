import LogRecords
import Redaction
import TestSupport
import Testing

/// Lines of a private key without its header.
@Suite(.tags(.small)) struct KeyRestTests {
  private static let full = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7abcdefghABCD"
  private static let key = Array(repeating: full, count: 3)

  private func rest(
    _ lines: [String], _ format: LogFormat = .asIs, _ redactor: Redactor = .standard
  ) -> Int {
    let prefix = format == .lines ? "2026-01-22T14:30:05.123Z [INFO] [stdout] " : ""
    return redactor.keyRest(in: Array(lines.map { "\(prefix)\($0)\n" }.joined().utf8), format)
  }

  private func length(_ lines: some Collection<String>, _ format: LogFormat = .asIs) -> Int {
    lines.map { $0.utf8.count + 1 + (format == .lines ? 41 : 0) }.reduce(0, +)
  }

  @Test(arguments: [LogFormat.asIs, .lines])
  func `it grows with the text until other lines follow`(format: LogFormat) {
    let lines = Self.key + ["and another thread"] + Self.key + ["MIIEvQ=="]
    let after = Array(repeating: "all is well", count: 5)
    for count in [1, 2, 3, 5, 6, 7, 8] {
      #expect(rest(Array(lines.prefix(count)), format) == length(lines.prefix(count), format))
    }
    for count in 1...5 {
      let text = lines + Array(after.prefix(count))
      #expect(rest(text, format) == length(lines, format))
    }
    #expect(rest(lines + after + Self.key, format) == length(lines, format))
    let whole = lines + after + ["-----END PRIVATE KEY-----"]
    #expect(rest(whole + after, format) == length(whole, format))
  }

  @Test func `the headers of an encrypted key, and the end of a line, belong to it`() {
    let headers = ["Proc-Type: 4,ENCRYPTED", "DEK-Info: AES-128-CBC,0123456789ABCDEF", ""]
    #expect(rest(headers + Self.key) == length(headers + Self.key))
    #expect(rest(["QEFAASC"] + Self.key) == length(["QEFAASC"] + Self.key))
    let opened = Self.key + ["-----BEGIN PRIVATE KEY-----"] + Self.key
    #expect(rest(opened + ["-----END PRIVATE KEY-----"]) == length(Self.key))
  }

  @Test(arguments: [
    "all is well", "hello", "3082045f020100300d06092a864886f70d0101010500048204493082044502ab",
    "0123456789ABCDEF0123456789ABCDEF0123456789ABCDEF0123456789ABCDEF",
    "-----BEGIN PRIVATE KEY-----",
  ])
  func `other lines are none`(line: String) {
    #expect(rest(Array(repeating: line, count: 5) + Self.key) == 0)
  }

  @Test func `rules that mask no keys hold nothing back`() throws {
    let redactor = try Redactor(RedactionRules(groups: ["email"]))
    #expect(rest(Self.key, .asIs, redactor) == 0)
    #expect(rest(Self.key) == length(Self.key))
  }
}

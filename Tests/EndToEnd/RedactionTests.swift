import Foundation
import TestServers
import TestSupport
import Testing

/// Secrets on their way from a program's output to the store.
@Suite(.tags(.medium)) struct RedactionTests {
  private static let token = "ghp_0123456789abcdefghijABCDEFGHIJ012345"
  private static let mask = "[REDACTED:github***********************]"
  private static let rules = """
    redact:
      email: true
      rules:
        - kind: customer
          near: 'customer='
          pattern: 'customer=(\\w+)'
    """

  private func program(_ configuration: String = "") async throws -> Program {
    let program = try Program()
    try await program.configure { text in
      let kept = text.split(separator: "\n").filter { !$0.hasPrefix("redact:") }
      return kept.joined(separator: "\n") + "\n" + configuration
    }
    return program
  }

  @Test func `no secret reaches the store`() async throws {
    let program = try await program(Self.rules)
    let line = "login \(Self.token) of anna.b@example.org customer=4711-x\n"
    let recorded = try await program.run("log", "--app", "x", input: Array(line.utf8))
    #expect(recorded.status == 0)
    #expect(try await program.run("upload").status == 0)
    let verified = try await program.run("verify")
    #expect(verified.status == 0 && verified.text.contains("equals the local log"))

    let stored = try await program.shell(
      """
      find "$HOME/store" -name '*.log.zst' -exec zstd -dcq {} +
      find "$HOME/store" -name '*.json' -exec cat {} +
      """
    )
    #expect(!stored.text.contains(Self.token) && !stored.text.contains("anna.b@"))
    let expected = "login \(Self.mask) of [REDACTED:email**] customer=****-x"
    #expect(stored.text.contains(expected), "\(stored.text)")
    #expect(stored.text.contains("\"github\" : 1"))
  }

  /// The work per match does not grow with its line: the limit is on processor time, which other
  /// tests do not affect.
  @Test func `previewing many secrets in one long line takes linear time`() async throws {
    let program = try await program()
    let count = 10_000
    let line = String(
      repeating: "token \(Self.token) was used by somebody at some time; ", count: count)
    try program.folder.write("one\n\(line)\n", to: "line")
    let preview = try await program.shell(
      """
      ulimit -t 20
      "$T" redact --preview --file - --count <"$FOLDER/line"
      """)
    #expect(preview.status == 0, "\(preview.errors)")
    #expect(preview.text == "standard input: \(count) github\n")
  }

  @Test func `redact --preview shows masks and changes nothing`() async throws {
    let program = try await program()
    let text = "one\ntoken \(Self.token)\nthree customer=4711\n"
    let input = Array(text.utf8)
    let preview = try await program.run("redact", "--preview", "--file", "-", input: input)
    #expect(preview.status == 0)
    #expect(
      preview.text
        == """
        standard input
          1: one
        > 2: token \(Self.mask)
          3: three customer=4711
        standard input: 1 github

        """)
    try Self.rules.write(
      toFile: program.folder.path + "/new.yaml", atomically: true, encoding: .utf8)
    let counted = try await program.run(
      "redact", "--preview", "--file", "-", "--rules", program.folder.path + "/new.yaml", "--count",
      "--json", input: input)
    #expect(
      counted.text == #"{"log":"standard input","redacted":{"customer":1,"github":1}}"# + "\n")
    let refused = try await program.run(
      "redact", "--preview", "--file", "-", "--show-secrets", input: input)
    #expect(refused.status == 64 && !refused.text.contains(Self.token))

    let session = try await program.run("log", "--no-upload", input: input)
    #expect(session.text == text)
    let all = try await program.run("redact", "--preview", "--json")
    #expect(all.status == 0 && all.text.contains(#""kind":"github""#))
    #expect(!all.text.contains(Self.token))
  }

  @Test func `a world-readable configuration with a password is refused`() async throws {
    let program = try await program()
    try await program.configure { $0 + "\nproxy: http://a:hunter22@127.0.0.1:1\n" }
    let result = try await program.shell(
      """
      "$T" status >/dev/null 2>&1; echo $?
      chmod 755 "$TIDEMARK_HOME" && chmod 644 "$TIDEMARK_HOME/tidemark.yaml"
      "$T" status; echo $?
      """)
    #expect(!result.text.hasPrefix("78\n") && result.text.hasSuffix("\n78\n"), "\(result.text)")
    #expect(result.errors.contains("HTTPS_PROXY") && !result.errors.contains("hunter22"))
  }

  @Test func `doctor names world-readable password files`() async throws {
    let program = try await program()
    let result = try await program.shell(
      """
      chmod 755 "$FOLDER"
      export NETRC="$FOLDER/netrc"
      echo secret >"$NETRC"
      for mode in 600 644; do
        chmod $mode "$NETRC"
        "$T" doctor --json | jq -c '.surroundings[0].exposed | map(sub(".*/"; ""))'
      done
      """)
    #expect(result.text == "[]\n[\"netrc\"]\n", "\(result.text) \(result.errors)")
  }

  @Test(arguments: [
    "webdav:\n  user: a\n  user: hunter22\n", "proxy: http://a:hunter22@h\nproxy: x\n",
    "proxy: [http://a:hunter22@h\n", "proxy: \"hunter22\n",
  ])
  func `a configuration error is reported without quoting secrets`(
    configuration: String
  ) async throws {
    let program = try await program()
    try await program.configure { _ in configuration }
    let result = try await program.run("status")
    #expect(result.status == 78 && result.errors.contains("tidemark.yaml:"), "\(result.errors)")
    #expect(!(result.errors + result.text).contains("hunter22"))
  }

  @Test(arguments: [
    ("redact: 7", "'redact' takes"), ("redact:\n  emial: true", "did you mean 'email'"),
    ("redact:\n  email: perhaps", "true or false"), ("redact:\n  rules: x", "takes a list"),
    ("redact:\n  rules:\n    - kind: a\n      near: abc", "lacks 'pattern'"),
    (
      "redact:\n  rules:\n    - kind: a\n      near: abc\n      pattern: '('",
      "invalid regular expression"
    ),
    ("redact:\n  rules:\n    - kind: A\n      near: abc\n      pattern: 'x'", "a kind has"),
    ("redact:\n  rules:\n    - kind: a\n      near: ab\n      pattern: 'x'", "'near' takes"),
    (
      "redact:\n  rules:\n    - kind: a\n      naer: abc\n      pattern: 'x'", "did you mean 'near'"
    ),
  ])
  func `an invalid redaction rule is reported with its cause`(
    configuration: String, says: String
  ) async throws {
    let program = try await program(configuration)
    let result = try await program.run("status")
    #expect(result.status == 78)
    #expect(
      result.errors.contains("tidemark.yaml:") && result.errors.contains(says), "\(result.errors)")
  }
}

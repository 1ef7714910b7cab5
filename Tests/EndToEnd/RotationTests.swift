import Foundation
import TestServers
import TestSupport
import Testing

/// Sessions whose log is rotated, from the recorder to the store and back.
@Suite(.tags(.large)) struct RotationTests {
  /// The program in a home whose configuration rotates early.
  private func program(_ endpoint: Endpoint) async throws -> Program {
    let program = try Program(endpoint)
    try await program.configure {
      $0.replacing("#rotate-at: 10000000", with: "rotate-at: 20000")
        .replacing("  #prune-after:", with: "  prune-after: 1h")
    }
    return program
  }

  /// Compares two long logs without printing them on failure.
  private func expectEqual(
    _ found: some Sequence<UInt8>, _ expected: some Sequence<UInt8>,
    _ location: SourceLocation = #_sourceLocation
  ) {
    let isEqual = found.elementsEqual(expected)
    #expect(isEqual, sourceLocation: location)
  }

  /// Makes the parts two days old, in a home that has lived for three.
  private static let age = """
    touch -d @$(($(date +%s) - 172800)) "$TIDEMARK_HOME"/sessions/*/*.log.zst
    cat >"$TIDEMARK_HOME/lived.json" <<END
    { "counter": "aaaaaaaa", "lived": 259200000, "boot": "another", "uptime": 0,
      "wall": $(date +%s)000, "heard": {}, "bold": {},
      "calendars": {"wall": {"rows": [{"date": $(($(date +%s) - 259200)), "lived": 0}]}} }
    END
    """

  private func parts(_ program: Program) throws -> [String] {
    let sessions = "\(program.home)/sessions"
    return (FileManager.default.enumerator(atPath: sessions)?.compactMap { $0 as? String } ?? [])
      .filter { $0.hasSuffix(".log.zst") }.sorted()
  }

  @Test(arguments: Endpoint.Kind.allCases)
  func `a rotated session is uploaded and read back whole`(kind: Endpoint.Kind) async throws {
    let endpoint = try Endpoint(kind)
    let program = try await program(endpoint)
    // More than fits through a pipe at once, so that there are several writes.
    let expected = (1...60_000).map { "\($0)\n" }.joined()
    let run = try await program.run("run", "--no-upload", "--", "seq", "1", "60000")
    expectEqual(run.output, expected.utf8)
    #expect(try parts(program).count >= 3)
    // The parts are plain zstd, and the live log is plain text.
    let joined = try await program.shell(
      "cd \"$TIDEMARK_HOME\"/sessions/*/ && { cat *.log.zst | zstd -dcq; cat *.log; }")
    let id = try #require(try await program.list().first?["sessionId"] as? String)
    expectEqual(try await program.run("show", "--raw", id).output, joined.output)
    expectEqual(try await program.run("show", "--plain", "--local", id).output, expected.utf8)

    let upload = try await program.run("upload")
    #expect(upload.status == 0 && upload.errors.isEmpty, "\(upload.errors)")
    let session = try #require(try await program.list().first)
    #expect(session["fileSizeBytes"] as? Int == joined.output.count)
    #expect(session["uploadedBytes"] as? Int == joined.output.count)
    expectEqual(try await program.run("show", "--raw", "--remote", id).output, joined.output)
    #expect(try await program.run("verify").status == 0)
    for side in ["--local", "--remote"] {
      let text = try await program.run("export", side, "-o", "-", id).output
      expectEqual(text.suffix(joined.output.count), joined.output)
    }

    // Old parts are deleted here, and the output does not change.
    let before = try parts(program)
    let dry = try await program.shell(
      """
      \(Self.age)
      $T reap --local --dry-run --explain
      """)
    #expect(dry.text.contains("would delete local \(id) part 0 ("), "\(dry.text)")
    #expect(try parts(program) == before)
    #expect(try await program.run("reap", "--local").status == 0)
    #expect(try parts(program) == before.suffix(1))
    expectEqual(try await program.run("show", "--raw", id).output, joined.output)
    #expect(try await program.run("verify").status == 0)
    #expect(try await program.run("show", "--local", id).status == 64)
    #expect(try await program.list().first?["fileSizeBytes"] as? Int == joined.output.count)
    #expect(try await program.run("delete", "--yes", "--local", id).status == 0)
    #expect(try parts(program).isEmpty)
  }

  @Test func `a pruned running session is read from local and remote parts`() async throws {
    let endpoint = try Endpoint(.directory)
    let program = try await program(endpoint)
    let result = try await program.shell(
      """
      cd '\(program.folder.path)'
      mkfifo more ready
      $T run --no-upload -- sh -c '
        seq 1 60000; echo >ready; read x <more; seq 60001 60010; echo >ready; read x <more
      ' >console &
      read x <ready
      while ! grep -q '^60000$' console; do :; done
      while set -- home/sessions/*/*.[0-9]*.log; [ "${1%[*]*}" = "$1" ]; do :; done
      \(Self.age)
      $T upload || exit 1
      ls home/sessions/*/ | grep -c 'log.zst' >&2
      echo >more; read x <ready
      while ! grep -q '^60010$' console; do :; done
      $T show --plain $($T list --json | sed -n 's/.*"sessionId":"\\([^"]*\\)".*/\\1/p')
      echo >more; wait
      $T upload && $T verify >&2
      """)
    #expect(result.status == 0, "\(result.errors)")
    #expect(result.errors.hasPrefix("1\n"), "\(result.errors)")
    expectEqual(result.output, (1...60_010).map { "\($0)\n" }.joined().utf8)
    #expect(try await program.list().first?["status"] as? String == "TERMINATED")
  }

  @Test(arguments: 0..<4)
  func `a recorder killed during rotation loses no output`(number: Int) async throws {
    let endpoint = try Endpoint(.directory)
    let program = try await program(endpoint)
    // Killed at a different point each time, in the middle of its writing.
    let first = 60_000 + number * 7_000
    let result = try await program.shell(
      """
      cd '\(program.folder.path)'
      mkfifo ready
      $T run --no-upload -- sh -c '
        seq 1 \(first); echo >ready; exec seq \(first + 1) 100000000
      ' >console 2>/dev/null &
      R=$!
      read x <ready
      kill -9 $R
      wait $R 2>/dev/null
      $T upload
      """)
    #expect(result.status == 0, "\(result.errors)")
    let session = try #require(try await program.list().first)
    #expect(session["cause"] as? String == "recorder lost")
    let id = try #require(session["sessionId"] as? String)
    let raw = try await program.run("show", "--raw", "--remote", id).output
    // A kill may cut the last record, whose write has not returned.
    let whole = raw[...(try #require(raw.lastIndex(of: 0x0a)))]
    let records = String(decoding: whole, as: UTF8.self).split(separator: "\n")
    #expect(records.count > 1000)
    for (index, record) in records.dropFirst().enumerated() {
      guard record.hasSuffix("[stdout] \(index + 1)") else {
        Issue.record("record \(index + 1) is \(record)")
        break
      }
    }
    // Everything on the console is in the log.
    let console = try String(contentsOfFile: program.folder.path + "/console", encoding: .utf8)
    let shown = console.split(separator: "\n", omittingEmptySubsequences: false).count - 1
    #expect(records.count - 1 >= shown)
    let temporary = try await program.shell("ls \"$TIDEMARK_HOME\"/sessions/*/ | grep -c tmp")
    #expect(temporary.text == "0\n")
  }
}

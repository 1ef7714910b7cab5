import Foundation
import TestServers
import TestSupport
import Testing

/// A person restores what retention has deleted, and asks why it was deleted.
@Suite(.tags(.medium)) struct RestoreTests {
  /// A program with a session that is recorded and uploaded.
  private func recorded() async throws -> (program: Program, id: String, log: [UInt8]) {
    let program = try Program()
    try await program.run("init", program.environment["URL"] ?? "")
    try await program.record("sh", "-c", "echo one; echo two >&2")
    let id = try #require(try await program.list().first?["sessionId"] as? String)
    return (program, id, try await program.run("show", "--raw", id).output)
  }

  /// Reaps until everything older than a second is gone.
  private func reap(_ program: Program, _ id: String) async throws {
    let result = try await program.shell(
      "until $T why \(id) | grep -q trash; do $T reap --local --older-than 1s --yes; done")
    #expect(result.status == 0, "\(result.errors)")
  }

  @Test func `a reaped session can be explained and restored`() async throws {
    let (program, id, log) = try await recorded()
    try await reap(program, id)
    #expect(try await program.run("show", "--raw", "--local", id).status != 0)
    let why = try await program.run("why", id)
    #expect(why.status == 0 && why.text.contains("moved to the trash. proven: "), "\(why.text)")
    #expect(why.text.contains("'tidemark restore \(id)' puts it back"))
    #expect(try await program.run("why", "--json", id).text.contains(#""ground":"proven""#))
    #expect(try await program.run("restore", id).text == "\(id)  restored from the trash\n")
    #expect(try await program.run("show", "--raw", "--local", id).output == log)
    let unknown = try await program.run("why", "20260122t143005z-aaaaaaaa")
    #expect(unknown.status == 1 && unknown.errors.contains("no deletions of"))
  }

  @Test func `a session with a hold is neither reaped nor deleted`() async throws {
    let (program, id, log) = try await recorded()
    let kept = try await program.run("keep", id, "--for", "2d")
    #expect(kept.status == 0 && kept.text.contains("is kept, local and remote, until "))
    let reaped = try await program.shell(
      """
      timeout 1800 sh -c '
        until $T reap --older-than 1s --yes --explain | grep "keep remote .*on hold until"; do :; done'
      $T reap --older-than 1s --yes --explain
      """)
    #expect(reaped.text.contains("keep local \(id): "), "\(reaped.text)\(reaped.errors)")
    #expect(try await program.run("show", "--raw", "--local", id).output == log)
    let refused = try await program.run("delete", "--yes", id)
    #expect(refused.status == 64 && refused.errors.contains("keep --release"), "\(refused.errors)")
    #expect(
      try await program.run("keep", "--release", id).text == "\(id)  is no longer kept\n")
    #expect(try await program.run("delete", "--yes", id).status == 0)
    #expect(try await program.run("why", id).text.contains("asked: tidemark delete"))
  }

  @Test(arguments: ["store", "mirror"])
  func `a new session is made of a copy elsewhere`(source: String) async throws {
    let (program, id, log) = try await recorded()
    let mirror = program.folder.path + "/mirror"
    var options: [String] = []
    #expect(try await program.run("restore", id).status == 64)
    if source == "mirror" {
      #expect(try await program.run("pull", mirror).status == 0)
      #expect(try await program.run("delete", "--yes", id).status == 0)
      options = ["--from", mirror]
    } else {
      #expect(try await program.run("delete", "--yes", "--local", id).status == 0)
    }
    let restored = try await program.run(["restore", id] + options)
    #expect(restored.status == 0, "\(restored.errors)")
    #expect(restored.text.contains("restored from the \(source) as "))
    let words = restored.text.split(whereSeparator: \Character.isWhitespace)
    let new = String(try #require(words.last))
    #expect(try await program.run("show", "--raw", "--local", new).output == log)
    let again = try await program.run(["restore", id] + options)
    #expect(again.status == 0 && again.text == "\(id)  is already restored as \(new)\n")
    #expect(try await program.run("upload").status == 0)
    #expect(try await program.run("verify", new).text.contains("equals the local log"))
    #expect(try await program.run("show", "--raw", "--remote", new).output == log)
    let none = try await program.run(["restore", "20260122t143005z-aaaaaaaa"] + options)
    #expect(none.status == 64 && none.errors.contains("no session"), "\(none.errors)")
  }

  @Test(arguments: [false, true])
  func `a session deleted by a person does not come back from the trash`(isAll: Bool) async throws {
    let (program, id, _) = try await recorded()
    try await reap(program, id)
    let name = isAll ? "--all" : id
    let deleted = try await program.run("delete", "--yes", name)
    #expect(deleted.status == 0 && deleted.text.contains(id), "\(deleted.text)\(deleted.errors)")
    let restored = try await program.run("restore", id)
    #expect(
      restored.status == 64 && restored.errors.contains("\(id) was deleted"), "\(restored.text)")
  }

  @Test func `a session that is only in the trash can be deleted`() async throws {
    let (program, id, _) = try await recorded()
    try await reap(program, id)
    #expect(try await program.run("delete", "--yes", "--remote", id).status == 0)
    #expect(try await program.run("delete", "--yes", "--remote", id).status == 64)
    let asked = try await program.run("delete", String(id.suffix(8)))
    #expect(asked.status == 64 && asked.errors.contains("--yes"), "\(asked.errors)")
    let deleted = try await program.run("delete", "--yes", String(id.suffix(8)))
    #expect(deleted.status == 0, "\(deleted.errors)")
    #expect(try await program.run("restore", id).status == 64)
    #expect(try await program.run("delete", "--yes", id).status == 64)
  }

  @Test func `a changed mirror is restored only on demand`() async throws {
    let program = try Program()
    let result = try await program.shell(
      """
      cd "$FOLDER" && "$T" init "$URL" >/dev/null && "$T" run -- echo first >/dev/null
      id=$("$T" list --json | grep -o '"session":"[^"]*"' | cut -d'"' -f4)
      "$T" upload && "$T" pull mirror >/dev/null && "$T" delete --yes --local $id >/dev/null
      log=$(echo mirror/*/*/$id.log) && sidecar=${log%.log}.json
      restore() { "$T" restore $id --from mirror --dry-run $2 >/dev/null 2>errors; echo "$1: $? $(grep -o "$3" errors | head -n1)"; }
      restore whole '' ''
      cp $log log && cp $sidecar sidecar
      sed 's/first/FIRST/' log >$log
      restore log '' 'other bytes'
      restore log --unverified 'other bytes'
      digest=$(sha256sum $log | cut -d' ' -f1)
      sed 's/"digest" : "[0-9a-f]*"/"digest" : "'$digest'"/' sidecar >$sidecar
      restore both '' 'wrong signature'
      sed -i '/^  "signature" : {$/,/^  },$/d' $sidecar
      restore unsigned '' 'not signed'
      cp log $log && sed 's/"TERMINATED"/"ACTIVE"/' sidecar >$sidecar
      restore open '' 'was open'
      """)
    #expect(
      result.text == """
        whole: 0 
        log: 65 other bytes
        log: 0 other bytes
        both: 65 wrong signature
        unsigned: 65 not signed
        open: 65 was open

        """, "\(result.errors)")
  }
}

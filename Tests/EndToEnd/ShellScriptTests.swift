import Foundation
import TestServers
import TestSupport
import Testing

/// The scripts that read a store without the program, compared with what the program wrote.
@Suite(.tags(.large)) struct ShellScriptTests {
  @Test(arguments: Endpoint.Kind.allCases)
  func `shell scripts list, export and reap sessions`(kind: Endpoint.Kind) async throws {
    let endpoint = try Endpoint(kind)
    var program = try Program(scriptsFor: endpoint)
    try await program.run("init", endpoint.url)
    try await program.record("seq", "1", "30000")
    // An open session, sent in three ticks, is exported while it is open.
    let read = try await program.script(
      """
      \(Self.threeTicks)
      "$S/list-sessions.sh" >listed || exit
      for id in $(cut -c 1-25 listed); do
        "$S/export-session.sh" "$id" -o out || exit
        "$T" show --raw --remote "$id" >shown || exit
        cmp shown out || exit
        "$S/export-session.sh" "$id" | cmp shown - || exit
      done
      cat listed
      "$S/list-sessions.sh" --json | jq -r '"\\(.status) \\(.uploadedBytes == .fileSizeBytes)"'
      "$S/reap-remote.sh" --delete
      """)
    #expect(read.status == 0, "\(read.errors)")
    let lines = read.text.split(separator: "\n").map(String.init)
    #expect(lines.count == 6, "\(read.text)")
    // Newest first; of two that began in the same second, either may be.
    #expect(lines[0].prefix(25) > lines[1].prefix(25))
    let isOpenNewer = lines[0].contains(" active ")
    let statuses = isOpenNewer ? ["active", "terminated"] : ["terminated", "active"]
    for (line, status) in zip(lines, statuses) { #expect(line.contains(" \(status) ")) }
    #expect(lines[2...3] == statuses.map { "\($0.uppercased()) true" }[...])
    #expect(lines[4...5].allSatisfy { $0.hasPrefix("keep ") })
    let segments = try endpoint.segments()
    #expect(segments.count == 4)

    program.environment["CLOCK"] = Program.lateClock
    let planned = try await program.script("\"$S/reap-remote.sh\"")
    #expect(planned.text.split(separator: "\n").count == 2 && planned.status == 0)
    #expect(planned.text.components(separatedBy: "would delete").count == 3)
    #expect(try endpoint.segments() == segments)
    let reaped = try await program.script("\"$S/reap-remote.sh\" --delete --older-than 1s")
    #expect(reaped.status == 0, "\(reaped.errors)")
    // Four segments, the seal of one session, the first sidecars of the other and its seal.
    #expect(reaped.text.components(separatedBy: "deleted devices/").count >= 7)
    #expect(try endpoint.segments().isEmpty)
    let empty = try await program.script("\"$S/list-sessions.sh\"")
    #expect(empty.status == 0 && empty.text.isEmpty, "\(empty.errors)")
    try program.expectNoSecretInArguments(endpoint)
  }

  /// Of two sidecars with the same number the one that seals counts, then the longer one, then the
  /// one with the higher hash, in any order of the listing.
  @Test func `among equal revisions sealed wins, then longer, then the higher hash`() async throws {
    let endpoint = try Endpoint(.directory)
    try endpoint.prepare()
    let program = try Program(scriptsFor: endpoint)
    let result = try await program.script(
      """
      cd "$FILES/store" && mkdir -p devices/d1/2026-01-22 && cd devices/d1/2026-01-22
      revision() { printf 0123456789 >"20260122t14300$1z-k3f9a7c2.s0002.$2.0000000000$3.$4.10.json"; }
      revision 5 active 50 ffffffffffffffff
      revision 5 terminated 40 0000000000000001
      revision 4 active 60 00000000000000aa
      revision 4 active 50 ffffffffffffffff
      revision 3 crashed 50 0000000000000001
      revision 3 terminated 50 1111111111111111
      "$S/list-sessions.sh" | awk '{ print $3, $5 }'
      """)
    #expect(result.text == "terminated 40\nactive 60\nterminated 50\n", "\(result.errors)")
  }

  /// Leaves a session open with three segments in the store; it ends with the shell.
  private static let threeTicks = """
    mkfifo in
    "$T" log --no-upload <in >console &
    exec 3>in
    for line in one two three; do
      echo $line >&3
      until grep -qs " $line$" home/sessions/*/*.log; do :; done
      "$T" upload || exit
    done
    """

  /// Writes a segment like a merging writer: `put_segment FOLDER LOG ID START END`.
  private static let putSegment = """
    put_segment() {
      head -c $5 "$2" | tail -c +$(($4 + 1)) >raw
      zstd -qf raw -o object
      hash=$(sha256sum <raw | cut -c 1-16)
      mv object "$1/$3.g1.$(printf %012d-%012d $4 $5).$hash.$(wc -c <object).log.zst"
    }
    """

  @Test func `scripts read the generation named by the sidecar`() async throws {
    let endpoint = try Endpoint(.directory)
    var program = try Program(scriptsFor: endpoint)
    try await program.run("init", endpoint.url)
    let result = try await program.script(
      """
      \(Self.putSegment)
      \(Self.threeTicks)
      log=$(echo home/sessions/*/*.log)
      id=$(basename "$log" .log)
      folder=$(echo "$FILES"/store/devices/*/20*)
      # A rewrite that is not finished counts for nothing.
      sed 's/one/ONE/; s/two/TOO LONG/' "$log" >rewritten
      size=$(wc -c <rewritten)
      put_segment "$folder" rewritten $id 0 $size
      mv "$folder"/$id.g1.000000000000-$(printf %012d $size).* second
      name=$id.g2.000000000000-$(printf %012d $size)
      hash=$(sha256sum <rewritten | cut -c 1-16)
      cp second "$folder/$name.$hash.$(wc -c <second).log.zst"
      "$S/export-session.sh" $id | cmp - "$log" || exit
      "$S/list-sessions.sh" | awk '{ print $3, $6 }' >listed
      # Named by a sidecar it is the stream.
      json='{"generation":2,"lastUpdatedAt":"2026-01-01T00:00:00Z"}'
      hash=$(printf %s "$json" | sha256sum | cut -c 1-16)
      printf %s "$json" >"$folder/$id.s0002.active.g2.$(printf %012d $size).$hash.${#json}.json"
      "$S/export-session.sh" $id | cmp - rewritten || exit
      "$S/list-sessions.sh" | awk '{ print $3, $6 }' >>listed
      printf 'active %s\nactive %s\n' $(wc -c <"$log") $size | cmp - listed || exit
      # What calls itself a delta is to have instructions.
      for segment in "$folder"/$id.g2.*; do mv "$segment" "${segment%.log.zst}.delta.zst"; done
      "$S/export-session.sh" $id
      echo $?
      "$S/list-sessions.sh" | awk '{ print $3, $6 }' >>listed
      [ "$(sort -u listed | wc -l)" = 2 ] || exit
      ls "$folder" >there
      """)
    #expect(result.status == 0 && result.text == "65\n", "\(result.text) \(result.errors)")
    #expect(result.errors.contains("no index that can be read"), "\(result.errors)")
    program.environment["CLOCK"] = Program.lateClock
    let reaped = try await program.script(
      """
      "$S/reap-remote.sh" --delete --older-than 1s | grep -c '^deleted '
      wc -l <there
      """)
    let counts = reaped.text.split(separator: "\n")
    #expect(counts.count == 2 && counts.first == counts.last, "\(reaped.text) \(reaped.errors)")
  }

  /// A foreign log that loses its head and gains lines, twice, and is then sealed: copies from
  /// plain segments and from the literals of a delta.
  @Test(arguments: [Endpoint.Kind.directory, .s3])
  func `scripts read sessions stored as deltas`(kind: Endpoint.Kind) async throws {
    let endpoint = try Endpoint(kind)
    let program = try Program(scriptsFor: endpoint)
    try await program.configure {
      $0.replacing("sources:", with: "sources:\n  - path: \(program.folder.path)/app.log")
    }
    let result = try await program.script(
      """
      lines() { for n in $(seq $1 $2); do echo "line $n $((n * 7919 % 104729)) $((n * n % 99991))"; done; }
      exported() {
        id=$("$S/list-sessions.sh" | cut -c 1-25)
        "$S/export-session.sh" $id >exported || exit
        cmp exported app.log || exit
      }
      edited() { tail -n +$1 app.log >new; lines $2 $3 >>new; cat new >app.log; rm new; "$T" upload; exported; }
      lines 1 20000 >app.log
      "$T" upload; exported
      cp app.log first.log
      edited 3000 20001 21000
      edited 900 21001 21500
      sed -i 's/line 777[0-9] /**** REDACTED /' app.log
      "$T" upload; exported
      find "$FILES" -name "$id.g*" | grep -c delta
      "$S/export-session.sh" --generation 1 $id | cmp - first.log || exit
      "$T" show --raw --generation 1 $id | cmp - first.log || exit
      "$T" grep '^line 3 ' | grep -o '^[^:]*@[0-9]*' | sed 's/.*@/former /'
      # The file's end is unknown: a GAP line follows what was sent of it.
      mv app.log gone.log; "$T" upload; "$T" upload
      "$T" show --raw --remote $id >app.log
      exported
      "$S/export-session.sh" --generation 1 $id | cmp - first.log || exit
      "$S/export-session.sh" --generation 9 $id
      echo "unknown: $?"
      "$S/list-sessions.sh" | awk '{ print $3 }'
      """)
    #expect(result.status == 0, "\(result.text) \(result.errors)")
    let deltas = try #require(result.text.split(separator: "\n").first.flatMap { Int($0) })
    #expect(deltas >= 3, "\(result.text) \(result.errors)")
    #expect(
      result.text.hasSuffix("\nformer 1\nunknown: 64\nterminated\n"),
      "\(result.text) \(result.errors)")
  }

  @Test func `an export survives the replacement of a segment while reading`() async throws {
    let endpoint = try Endpoint(.webdav)
    var program = try Program(scriptsFor: endpoint)
    try await program.run("init", endpoint.url)
    // Between the first segment and the second, one that covers all replaces them.
    program.environment["BEFORE_SECOND_SEGMENT"] = try program.folder.write(
      """
      \(Self.putSegment)
      folder=$(echo "$FILES"/logs/devices/*/20*)
      rm "$folder"/*.zst
      log=$(echo home/sessions/*/*.log)
      put_segment "$folder" "$log" $(basename "$log" .log) 0 $(wc -c <"$log")
      """, to: "replace.sh")
    let result = try await program.script(
      """
      \(Self.threeTicks)
      id=$("$S/list-sessions.sh" | cut -c 1-25)
      "$S/export-session.sh" "$id" -o out || exit
      cmp home/sessions/*/*.log out
      """)
    #expect(result.status == 0, "\(result.errors)")
    #expect(try endpoint.segments().count == 1)
  }

  @Test(arguments: [
    ("truncate -s -1 \"$object\"", "bytes 0 to "),
    (
      "printf xxxxxxxx | dd of=\"$object\" bs=1 seek=20 conv=notrunc 2>/dev/null",
      "cannot be decompressed"
    ),
    (
      "unseal; zstd -dc \"$object\" | tr 1 2 | zstd -qf -o raw && resize raw",
      "other bytes than its name"
    ),
    ("zstd -dc \"$object\" | tr 1 2 | zstd -qf -o raw && resize raw", "bytes 0 to "),
    (
      "unseal; put_segment \"${object%/*}\" \"$log\" $id 5 $(wc -c <\"$log\"); rm \"$object\"",
      "bytes 0 to 5 "
    ),
    (
      "unseal; (tr 1 2 <\"$log\"; echo) >other; "
        + "put_segment \"${object%/*}\" other $id 5 $(wc -c <other)", "overlap"
    ),
    ("seal '.objects += [\"../../../etc/passwd\"]'", "names other things"),
  ])
  func `damage is reported, and no partial export remains`(
    damage: String, says: String
  ) async throws {
    let endpoint = try Endpoint(.directory)
    let program = try Program(scriptsFor: endpoint)
    try await program.run("init", endpoint.url)
    try await program.record("seq", "1", "1000")
    let result = try await program.script(
      """
      \(Self.putSegment)
      # The damaged content under a name that has its size.
      resize() {
        mv "$1" "$(echo "$object" | sed "s/[0-9]*.log.zst$/$(wc -c <"$1").log.zst/")"
        rm "$object"
      }
      object=$(echo "$FILES"/store/devices/*/*/*.zst)
      log=$(echo home/sessions/*/*.log)
      id=$(basename "$log" .log)
      # The seal, changed, under a name that fits it.
      seal() {
        local old=$(echo "${object%/*}"/*.terminated.*.json)
        jq -c "$1" "$old" >json
        local fit=$(sha256sum <json | cut -c 1-16).$(wc -c <json).json
        mv json "$(echo "$old" | sed "s/[0-9a-f]*\\.[0-9]*\\.json$/$fit/")"
        rm "$old"
      }
      # As if it were open: then its segments count by their names.
      unseal() { rm "${object%/*}"/*.json; }
      \(damage)
      mkdir out
      "$S/export-session.sh" 20 -o out/log
      status=$?
      ls -A out
      exit $status
      """)
    #expect(result.status == 65 && result.text.isEmpty, "\(result.errors)")
    #expect(result.errors.contains(says), "\(result.errors)")
  }

  struct Refusal: Sendable, CustomTestStringConvertible {
    let testDescription: String
    var kind = Endpoint.Kind.directory
    var environment: [String: String] = [:]
    let command: String
    let status: Int32
    let says: String
  }

  static let refusals: [Refusal] = [
    .init(
      testDescription: "wrong password", kind: .webdav,
      environment: ["TIDEMARK_WEBDAV_PASSWORD": "wr\"on\\g"], command: "list-sessions.sh",
      status: 77, says: "401"),
    .init(
      testDescription: "wrong secret", kind: .s3, environment: ["AWS_SECRET_ACCESS_KEY": "wr\"ong"],
      command: "list-sessions.sh", status: 77, says: "SignatureDoesNotMatch"),
    .init(
      testDescription: "missing bucket", kind: .s3, command: "list-sessions.sh s3://nothing-here",
      status: 78, says: "NoSuchBucket"),
    .init(
      testDescription: "no server", command: "list-sessions.sh http://127.0.0.1:1/dav", status: 75,
      says: "network"),
    .init(
      testDescription: "plain http", command: "list-sessions.sh http://192.0.2.1/dav", status: 78,
      says: "https://"),
    .init(
      testDescription: "a login in the URL", command: "list-sessions.sh https://me:secret@host/x",
      status: 78, says: "--help"),
    .init(
      testDescription: "no store", environment: ["TIDEMARK_STORE": ""],
      command: "export-session.sh 2026", status: 78, says: "TIDEMARK_STORE"),
    .init(
      testDescription: "nothing there", command: "export-session.sh 2026", status: 78,
      says: "nothing of Tidemark's"),
    .init(
      testDescription: "an id like a path", command: "export-session.sh ../../etc", status: 64,
      says: "no session id"),
    .init(
      testDescription: "no time at all", command: "reap-remote.sh --older-than 0", status: 64,
      says: "30d"),
    .init(
      testDescription: "a missing tool", environment: ["PATH": "/bin-without-tools"],
      command: "export-session.sh 2026", status: 69, says: "jq is missing"),
  ]

  @Test(arguments: refusals)
  func `scripts report errors with the next step and no secrets`(_ test: Refusal) async throws {
    let endpoint = try Endpoint(test.kind)
    var program = try Program(scriptsFor: endpoint)
    program.environment.merge(test.environment) { $1 }
    if test.status == 69 {
      // Exactly what the head of a script needs.
      let made = try await program.script(
        """
        PATH=/usr/bin:/bin; mkdir few
        for tool in bash dirname mktemp rm; do ln -s $(command -v $tool) few; done
        """
      )
      #expect(made.status == 0)
      program.environment["PATH"] = program.folder.path + "/few"
    }
    let result = try await program.script("exec \"$S/\"\(test.command)")
    #expect(result.status == test.status && result.text.isEmpty, "\(result.errors)")
    #expect(result.errors.contains(test.says), "\(result.errors)")
    for secret in test.environment.values where !secret.isEmpty {
      #expect(!result.errors.contains(secret))
    }
    #expect(!result.errors.contains("secret@"))
  }

  @Test func `scripts accept a shortened id if it is unique`() async throws {
    let endpoint = try Endpoint(.directory)
    let program = try Program(scriptsFor: endpoint)
    try await program.run("init", endpoint.url)
    for _ in 0..<2 { try await program.record("true") }
    let ids = try await program.list().compactMap { $0["sessionId"] as? String }
    let several = try await program.script("\"$S/export-session.sh\" \(ids[0].prefix(4))")
    #expect(several.status == 64 && several.text.isEmpty)
    #expect(ids.count == 2 && ids.allSatisfy(several.errors.contains))
    let one = try await program.script("\"$S/export-session.sh\" \(ids[0].dropLast())")
    #expect(one.output == (try program.log(ids[0])), "\(one.errors)")
    let none = try await program.script("\"$S/export-session.sh\" \(ids[0].dropLast(8))zzzzzzzz")
    #expect(none.status == 64 && none.errors.contains("list-sessions.sh"))
  }

  @Test func `the export script unpacks no more than a stored object may contain`() async throws {
    let endpoint = try Endpoint(.directory)
    let program = try Program(scriptsFor: endpoint)
    try await program.run("init", endpoint.url)
    let result = try await program.script(
      """
      id=20260122t143005z-abcdefgh
      day=$FILES/store/devices/abcd/2026-01-22
      mkdir -p "$day"
      head -c 4194304 /dev/zero | zstd -q >segment
      stored=$(wc -c <segment)
      mv segment "$day/$id.g1.000000000000-100000000000.0123456789abcdef.$stored.log.zst"
      "$S/export-session.sh" $id -o out
      """)
    #expect(
      result.status == 65 && result.errors.contains("is not unpacked"),
      "\(result.status) \(result.errors)")
  }

  @Test
  func `the reaping script checks sidecars and refuses suspiciously large plans`() async throws {
    let endpoint = try Endpoint(.directory)
    var program = try Program(scriptsFor: endpoint)
    program.environment["CLOCK"] = Program.lateClock
    let made = try await program.script(
      """
      folder=$FILES/store/devices/abc/2026-01-22
      mkdir -p "$folder"
      put_sidecar() {
        printf %s "$2" >json
        hash=$(sha256sum <json | cut -c 1-16)
        mv json "$folder/20260122t14300$1.s0001.crashed.000000000000.$hash.$(wc -c <json).json"
      }
      put_sidecar 0z-longdead '{"endedAt":"2026-01-22T14:40:00.000Z"}'
      put_sidecar 0z-longkept '{"endedAt":"2026-01-22T14:40:00.000Z"}'
      hold=$folder/20260122t143000z-longkept.keep.23000101.json
      echo >"$hold"
      touch -d 2095-06-01T00:00:00Z "$hold"
      put_sidecar 0z-overlong '{"endedAt":"2026-01-22T14:40:00.000Z"}'
      echo >"$folder/20260122t143000z-overlong.keep.23000101.json"
      put_sidecar 0z-nosuchda '{"endedAt":"2026-01-22T14:40:00.000Z"}'
      echo >"$folder/20260122t143000z-nosuchda.keep.99999999.json"
      put_sidecar 0z-keptonce '{"endedAt":"2026-01-22T14:40:00.000Z"}'
      echo >"$folder/20260122t143000z-keptonce.keep.20260301.json"
      put_sidecar 0z-dreaming '{"endedAt":"2296-01-22T14:40:00.000Z"}'
      put_sidecar 0z-justdied '{"endedAt":"2096-10-01T14:40:00.000Z"}'
      put_sidecar 0z-stillhot '{"lastUpdatedAt":"2096-10-01T14:40:00.000Z"}'
      put_sidecar 0z-garbages 'x'
      orphan=20260122t143000z-orphaned.g1.000000000000-000000000009.0123456789abcdef.8.log.zst
      echo >"$folder/$orphan"
      echo >"$folder/20260122t143000z-longdead.notes.txt"
      "$S/reap-remote.sh" --delete | cut -d ' ' -f 1-2 | cut -d . -f 1
      ls "$folder" | wc -l
      for i in $(seq 10 29); do put_sidecar 1z-longde$i '{"endedAt":"2026-01-22T14:40:00Z"}'; done
      """)
    #expect(made.status == 0, "\(made.errors)")
    let lines = made.text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
    let id = "20260122t143000z-"
    let folder = "devices/abc/2026-01-22/"
    #expect(
      lines == [
        "delete \(id)dreaming", "keep \(id)garbages", "keep \(id)justdied", "delete \(id)keptonce",
        "delete \(id)longdead", "keep \(id)longkept", "delete \(id)nosuchda",
        "delete \(id)orphaned", "delete \(id)overlong", "keep \(id)stillhot",
        "deleted \(folder)\(id)dreaming", "deleted \(folder)\(id)keptonce",
        "deleted \(folder)\(id)keptonce", "deleted \(folder)\(id)longdead",
        "deleted \(folder)\(id)nosuchda", "deleted \(folder)\(id)orphaned",
        "deleted \(folder)\(id)overlong", "deleted \(folder)\(id)overlong", "7",
      ], "\(made.errors)")
    let bold = "\"$S/reap-remote.sh\" --older-than 20h"
    let refused = try await program.script(bold + " --delete")
    #expect(refused.status == 64 && refused.errors.contains("20 of 24 sessions"))
    #expect(refused.errors.contains("--force") && !refused.text.contains("deleted"))
    let forced = try await program.script(bold + " --force")
    #expect(forced.status == 0 && forced.errors.isEmpty, "\(forced.errors)")
    // An age of thirty days needs no second confirmation.
    let reaped = try await program.script("\"$S/reap-remote.sh\" --delete")
    #expect(reaped.status == 0 && reaped.text.components(separatedBy: "deleted").count == 21)
  }
}

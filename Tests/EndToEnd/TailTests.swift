import Foundation
import TestServers
import TestSupport
import Testing

/// `tail`, and the logs it follows.
@Suite(.tags(.large)) struct TailTests {
  /// A session that is fed through descriptor 3, and `log`, `id` and `until_there TEXT FILE`.
  private static let running = """
    set -u
    cd "$FOLDER"
    "$T" init "$URL" >&2
    until_there() { until grep -qs -e "$1" "$2"; do sleep 0.05; done; }
    mkfifo in
    "$T" log --no-upload --app feed <in >console &
    recorder=$!
    exec 3>in
    seq 100 >&3
    until grep -qs ' 100$' home/sessions/*/*.log; do sleep 0.05; done
    log=$(echo home/sessions/*/*.log)
    id=$(basename "$log" .log)
    """

  @Test func `tail prints the same lines as the system tail, local and remote`() async throws {
    let endpoint = try Endpoint(.directory)
    let result = try await Program(endpoint).shell(
      """
      \(Self.running)
      exec 3>&-
      wait $recorder
      "$T" upload
      for side in --local --remote; do
        for n in 0 1 10 200; do
          "$T" tail $side -n $n $id >found
          tail -n $n "$log" >expected
          cmp expected found || exit 9
        done
        "$T" tail $side --stream stdout -n 3 $id | sed 's/.* //' | tr '\\n' ' '
        "$T" tail $side --json -n 1 | jq -r .message
      done
      """)
    let side = "98 99 100 SESSION END exit 0\n"
    #expect(result.text == side + side, "\(result.text) \(result.errors)")
  }

  /// Each line once, however often the log is rotated meanwhile, and the end is reported.
  @Test func `a followed session shows each line once across rotations`() async throws {
    let endpoint = try Endpoint(.directory)
    let result = try await Program(endpoint).shell(
      """
      cd "$FOLDER"
      "$T" init "$URL" >&2
      sed -i 's/^#rotate-at: .*/rotate-at: 20000/' home/tidemark.yaml
      \(Self.running.replacing("\"$T\" init \"$URL\" >&2\n", with: ""))
      "$T" tail -f -n 100000 $id >followed 2>ended 3>&- &
      follower=$!
      until_there ' 100$' followed
      for start in 101 2001 4001 6001 8001; do
        seq $start $((start + 1999)) >&3
        until_there " $((start + 1999))\\$" followed
      done
      exec 3>&-
      wait $recorder
      wait $follower; echo $?
      "$T" show --raw $id | cmp - followed && echo same
      ls home/sessions/*/*.zst | wc -l | awk '{ print ($1 > 3) }'
      sed "s/$id/ID/" ended
      """)
    #expect(
      result.text == "0\nsame\n1\ntidemark: ID ended: exit 0\n",
      "\(result.text) \(result.errors)")
  }

  @Test func `tail -f ends when the recorder is killed`() async throws {
    let endpoint = try Endpoint(.directory)
    let result = try await Program(endpoint).shell(
      """
      \(Self.running)
      kill -9 $recorder
      "$T" tail -f -n 1 $id 2>&1 | sed "s/.* 100/100/; s/$id/ID/"
      """)
    #expect(
      result.text == "100\ntidemark: ID crashed: recorder lost\n",
      "\(result.text) \(result.errors)")
  }

  /// For a session in the store, only new bytes are fetched.
  @Test(arguments: [Endpoint.Kind.webdav, .s3])
  func `following a remote session fetches only new bytes`(kind: Endpoint.Kind) async throws {
    let gets = Requests()
    let endpoint = try Endpoint(kind) { _, request in
      if request.method == "GET", request.target.contains(".log.zst") { gets.add(request.target) }
      return nil
    }
    let result = try await Program(endpoint).shell(
      """
      \(Self.running)
      "$T" upload
      "$T" tail -f --every 1s --remote -n 1 $id >followed 2>ended 3>&- &
      follower=$!
      until_there ' 100$' followed
      for start in 101 201; do
        seq $start $((start + 99)) >&3
        until_there " $((start + 99))\\$" "$log"
        "$T" upload
        until_there " $((start + 99))\\$" followed
      done
      exec 3>&-
      wait $recorder
      "$T" upload
      wait $follower; echo $?
      tail -n +101 "$log" | cmp - followed && echo same
      sed "s/$id/ID/" ended
      """)
    #expect(
      result.text == "0\nsame\ntidemark: ID ended: exit 0\n",
      "\(result.text) \(result.errors)")
    // Ticks and the last lines once each by the follower; the seal's proof may read them once more.
    let starts = gets.all.map { $0.split(separator: ".g1.").last ?? "" }
    #expect(starts.count <= 3 * 4, "\(starts)")
  }

  @Test func `tail of several sessions prefixes each line with its id`() async throws {
    let endpoint = try Endpoint(.directory)
    let result = try await Program(endpoint).shell(
      """
      \(Self.running)
      "$T" run --no-upload --app other -- echo from other >/dev/null
      other=$("$T" list --json | jq -r 'select(.appName == "other") | .sessionId')
      "$T" tail -f -n 2 $id $other >followed 2>ended 3>&- &
      follower=$!
      until_there 'from other' followed
      echo later >&3
      until_there later followed
      exec 3>&-
      wait $follower; echo $?
      sed "s/$id: 2.*Z/1/; s/$other: 2.*Z/2/" followed
      wc -l <ended
      """)
    #expect(
      result.text == """
        0
        1 [INFO] [stdout] 99
        1 [INFO] [stdout] 100
        2 [INFO] [stdout] from other
        2 [INFO] [Session] SESSION END exit 0
        1 [INFO] [stdout] later
        1 [INFO] [Session] SESSION END exit 0
        2

        """, "\(result.text) \(result.errors)")
  }

  @Test func `tail -f reports a session that is deleted meanwhile`() async throws {
    let endpoint = try Endpoint(.directory)
    let result = try await Program(endpoint).shell(
      """
      \(Self.running)
      "$T" tail -f -n 1 $id >followed 2>ended 3>&- &
      follower=$!
      until_there ' 100$' followed
      rm -r home/sessions
      wait $follower; echo $?
      exec 3>&-
      wait $recorder
      sed "s/$id/ID/" ended
      "$T" tail $id; echo $?
      "$T" tail nobody; echo $?
      # The recorder has continued elsewhere.
      "$T" tail -n 1 | sed 's/.* \\[/[/'
      """)
    #expect(
      result.text == """
        1
        tidemark: ID is gone: it was deleted meanwhile
        64
        64
        [Session] SESSION END exit 0

        """, "\(result.text) \(result.errors)")
  }

  /// A closed pipe ends it silently.
  @Test func `a closed output pipe ends a command without an error`() async throws {
    let endpoint = try Endpoint(.directory)
    let result = try await Program(endpoint).shell(
      """
      \(Self.running)
      exec 3>&-
      wait $recorder
      for command in 'tail -n 50' 'grep .' 'export --format jsonl -o -'; do
        "$T" $command $id 2>error | head -n 1 | wc -l
        cat error
      done
      """)
    #expect(result.text.filter { $0 != " " } == "1\n1\n1\n", "\(result.text) \(result.errors)")
  }

  /// No control characters of a hostile log reach a terminal.
  @Test(arguments: [
    ["tail", "-n", "9"], ["tail", "--json"], ["grep", "red"], ["grep", "--json", "red"],
    ["grep", "-C", "9", "red"], ["export", "-o", "-", "--app", "pipe"],
    ["export", "-o", "-", "--app", "pipe", "--format", "jsonl"],
    ["export", "-o", "-", "--app", "pipe", "--merge"],
  ])
  func `control bytes of a log never reach a terminal`(arguments: [String]) async throws {
    let program = try Program()
    let hostile = "\u{1b}]0;owned\u{7}\u{1b}[2Jred\u{9b}31m\u{202e}\r\u{8}\u{7f}\n"
    try await program.run("log", "--no-upload", input: Array(hostile.utf8) + [0xff, 0x1b, 0x0a])
    for colours in [false, true] {
      var environment = program.environment
      environment["TERM"] = "xterm"
      if !colours { environment["NO_COLOR"] = "1" }
      let terminal = try Terminal([Program.path] + arguments, environment: environment)
      #expect(try terminal.status() == 0)
      let ours = terminal.text.replacing(/\u{1b}\[[0-9;]*m/, with: "")
      #expect(ours.contains("red"), "\(ours)")
      #expect(colours || ours == terminal.text)
      let isHarmless = ours.unicodeScalars.allSatisfy {
        ["\r", "\n"].contains($0)
          || ($0.value >= 0x20 && !(0x7f..<0xa0).contains($0.value) && $0.value != 0x202e)
      }
      #expect(isHarmless && !ours.contains("\r\u{8}"), "\(ours.debugDescription)")
    }
  }
}

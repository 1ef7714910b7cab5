import Foundation
import TestServers
import TestSupport
import Testing

/// `export` in its formats.
@Suite(.tags(.large)) struct ExportTests {
  /// Two sessions, `one` which failed and `two`, both in the store.
  private static let recorded = """
    set -u
    cd "$FOLDER"
    "$T" init "$URL" >&2
    "$T" run --no-upload --app first -- sh -c 'seq 3; printf "\\377\\000\\r\\n"; exit 3' >/dev/null
    "$T" run --no-upload --app second -- sh -c 'echo ERROR: bad; echo fine' >/dev/null
    "$T" upload
    one=$("$T" list --json | jq -r 'select(.appName == "first") | .sessionId')
    two=$("$T" list --json | jq -r 'select(.appName == "second") | .sessionId')
    """

  @Test(arguments: Endpoint.Kind.allCases)
  func `a tar export contains logs and sidecars`(kind: Endpoint.Kind) async throws {
    let endpoint = try Endpoint(kind)
    let result = try await Program(endpoint).shell(
      """
      \(Self.recorded)
      for side in --local --remote; do
        "$T" export $side --format tar -o all.tar $one $two || exit 9
        "$T" export $side --format tar -o - $one $two | cmp - all.tar || exit 8
        tar -tvf all.tar | grep -v '^-rw------- ' && exit 4
        mkdir out$side
        tar -xf all.tar -C out$side
        for id in $one $two; do
          "$T" show --raw $id | cmp - out$side/*/*/$id.log || exit 7
          [ "$(jq -r .sessionId out$side/*/*/$id.json)" = $id ] || exit 6
        done
        tar -tf all.tar | sed "s,.*/,,; s/$one/1/; s/$two/2/"
        # A choice of records has a length of its own.
        "$T" export $side --format tar --level error -o some.tar $one $two || exit 5
        tar -xOf some.tar --wildcards '*.log' | sed 's/.*Z //'
      done
      ls -A | grep -c partial
      """)
    let errors = "[ERROR] [Session] SESSION END exit 3\n[ERROR] [stdout] ERROR: bad\n"
    let side = "1.log\n1.json\n2.log\n2.json\n" + errors
    #expect(result.text == side + side + "0\n", "\(result.text) \(result.errors)")
  }

  @Test func `a JSON Lines export preserves every byte`() async throws {
    let endpoint = try Endpoint(.directory)
    let result = try await Program(endpoint).shell(
      """
      \(Self.recorded)
      "$T" export --format jsonl -o out $one $two || exit 9
      jq -c 'select(.stream) | [.level, .stream, .message]' out/$two.jsonl
      jq -r 'select(.stream == "stdout") | .messageBase64 // (.message | @base64)' out/$one.jsonl |
        while read -r line; do printf %s "$line" | base64 -d; echo; done | od -An -c
      [ "$("$T" show --raw $one | head -c "$(jq -s '.[2].offset' out/$one.jsonl)" | wc -l)" = 2 ] &&
        echo offset
      "$T" export --format jsonl -o - --failed | jq -r .app | sort -u
      "$T" export --app second --category Session -o - | tail -n 1 | sed 's/.*Z//'
      "$T" export --since 1h -o since && ls since | wc -l
      """)
    let text = result.text.split(separator: "\n").map {
      $0.split(separator: " ").joined(separator: " ")
    }
    #expect(
      text == [
        #"["ERROR","stdout","ERROR: bad"]"#, #"["INFO","stdout","fine"]"#,
        #"1 \n 2 \n 3 \n 377 \0 \r \n"#, "offset", "first", "[INFO] [Session] SESSION END exit 0",
        "2",
      ], "\(result.text) \(result.errors)")
  }

  @Test(arguments: ["--local", "--remote"])
  func `a merged export is ordered by time`(side: String) async throws {
    let endpoint = try Endpoint(.directory)
    let result = try await Program(endpoint).shell(
      """
      \(Self.recorded)
      cat >early.log <<END
      2020-01-01T00:00:00Z ERROR: early
        goes on
      2020-01-01T00:00:02Z ERROR: late
      END
      cat >between.log <<END
      2020-01-01T00:00:01Z ERROR: between
      END
      "$T" import early.log between.log >/dev/null
      "$T" upload
      ids=$("$T" list --all --json | jq -r 'select(.appName | test("early|between")) | .sessionId')
      "$T" export \(side) --merge -o merged $ids || exit 9
      sed -n '/^=== Log/,$p' merged | sed 's/.*: 2020/2020/; s/^[^ ]*:   /  /'
      "$T" export \(side) --merge --format jsonl -o - $ids | jq -c '[.time, .message]'
      "$T" export \(side) --merge -o - $one $two | tail -n 1 | grep -ac "^$two: "
      """)
    #expect(
      result.text == """
        === Log ===
        2020-01-01T00:00:00Z ERROR: early
          goes on
        2020-01-01T00:00:01Z ERROR: between
        2020-01-01T00:00:02Z ERROR: late
        ["2020-01-01T00:00:00.000Z","2020-01-01T00:00:00Z ERROR: early\\n  goes on"]
        ["2020-01-01T00:00:01.000Z","2020-01-01T00:00:01Z ERROR: between"]
        ["2020-01-01T00:00:02.000Z","2020-01-01T00:00:02Z ERROR: late"]
        1

        """, "\(result.text) \(result.errors)")
  }

  /// Times of a device whose clock is an hour slow are corrected by what its uploads measured.
  @Test func `a merged export corrects device clock offsets`() async throws {
    let endpoint = try Endpoint(.directory)
    let result = try await Program(endpoint).shell(
      """
      \(Self.recorded)
      for id in $one $two; do
        sidecar=$(echo home/sessions/*/$id.json)
        offset=$([ $id = $one ] && echo 3600000 || echo 0)
        jq ".clockOffset = $offset" "$sidecar" >new && mv new "$sidecar"
      done
      order() { sed -n '/^=== Log/,$p' | grep -a stdout | cut -d : -f 1 | uniq | sed "s/$one/1/; s/$two/2/"; }
      "$T" export --merge -o - $one $two | order
      "$T" export --merge --no-clock-offset -o - $one $two | order
      "$T" export --merge -o - $one $two | grep -a 'Clock offset'
      """)
    #expect(
      result.text == "2\n1\n1\n2\nClock offset: 3600000 ms\nClock offset: 0 ms\n",
      "\(result.text) \(result.errors)")
  }

  @Test(arguments: [Endpoint.Kind.webdav, .s3])
  func `the clock offset is measured against the server`(kind: Endpoint.Kind) async throws {
    let endpoint = try Endpoint(kind)
    let result = try await Program(endpoint).shell(
      """
      \(Self.recorded)
      "$T" run --no-upload --app unsent -- true
      unsent=$("$T" list --json | jq -r 'select(.appName == "unsent") | .sessionId')
      "$T" export --merge -o - $unsent | grep 'Clock offset'
      rm -r home/sessions home/cache
      "$T" export --format tar -o - $one | tar -xO --wildcards '*.json' | jq .clockOffset
      """)
    // The server's clock is this machine's.
    #expect(result.text == "Clock offset: 0 ms\n0\n", "\(result.text) \(result.errors)")
  }

  /// A failed export leaves nothing under the final name, and keeps an existing file.
  @Test func `a failed export leaves no file and keeps an existing one`() async throws {
    let endpoint = try Endpoint(.directory)
    let result = try await Program(endpoint).shell(
      """
      \(Self.recorded)
      rm -r home/sessions
      for segment in "${URL#file://}"/devices/*/*/$two.*.zst; do
        size=$(wc -c <"$segment")
        printf XXXXXXXX | dd of="$segment" bs=1 seek=$((size / 2)) conv=notrunc 2>/dev/null
      done
      echo old >old.tar
      "$T" export --format tar -o old.tar $two 2>/dev/null; echo $?
      cat old.tar
      for format in text jsonl; do
        "$T" export --format $format -o out $two 2>/dev/null; echo $?
        ls -A out | wc -l
        "$T" export --format $format --merge -o merged $one $two 2>/dev/null; echo $?
      done
      ls -A | grep -c 'partial\\|merged'
      "$T" export --format tar -o out $one 2>/dev/null; echo $?
      "$T" export -o out 2>/dev/null; echo $?
      "$T" export --format xml -o out $one 2>/dev/null; echo $?
      "$T" export --merge --format tar -o out $one 2>/dev/null; echo $?
      mkfifo pipe
      ln -s old.tar link
      for name in pipe link; do "$T" export --format tar -o $name $one 2>/dev/null; echo $?; done
      [ -p pipe ] && [ -h link ]; echo $?
      """)
    let cut = "65\n0\n65\n"
    let refused = String(repeating: "64\n", count: 6)
    #expect(
      result.text.filter { $0 != " " } == "65\nold\n" + cut + cut + "0\n" + refused + "0\n",
      "\(result.text) \(result.errors)")
  }
}

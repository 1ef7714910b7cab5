import Foundation
import TestServers
import TestSupport
import Testing

/// `grep` over sessions here and in the store.
@Suite(.tags(.large)) struct GrepTests {
  /// A session of 2 MB, sealed, `id` and `log`, and `same` to compare two files.
  private static let recorded = """
    set -u
    cd "$FOLDER"
    "$T" init "$URL" >&2
    "$T" run --no-upload --app numbers -- sh -c '
      echo first; seq 30000; echo "ERROR: one"; seq 100; echo "ERROR: two"; echo last' >/dev/null
    "$T" upload
    log=$(echo home/sessions/*/*.log)
    id=$(basename "$log" .log)
    same() { cmp "$1" "$2" || exit 9; }
    """

  @Test(arguments: Endpoint.Kind.allCases)
  func `grep prints the same lines as the system grep, local and remote`(
    kind: Endpoint.Kind
  ) async throws {
    let endpoint = try Endpoint(kind)
    let result = try await Program(endpoint).shell(
      """
      \(Self.recorded)
      both() {
        grep -E "$@" <"$log" >expected; code=$?
        for side in --local --remote; do
          "$T" grep $side "$@" "$id" >found; now=$?
          [ $now = $code ] || { echo "$*: $now, not $code"; exit 8; }
          same expected found
        done
      }
      both 'ERROR|WARN'
      both '[^0-9]7+$'
      both -c 'stdout.*99'
      both -v '[0-9]$'
      both -i 'eRRor: T'
      both -m 3 77
      both -C 2 'ERROR: (one|two)$'
      # At both edges of the file.
      both -B 3 -A 1 'first$'
      both -A 5 'SESSION END'
      both -m 2 -A 1 '777$'
      both 'nothing like this'
      both -v ''
      for side in --local --remote; do
        "$T" grep $side -F 'ERROR: two' $id >found
        grep -F 'ERROR: two' "$log" >expected
        same expected found
        "$T" grep $side -F '.' -c $id >found
        grep -F -c . "$log" >expected
        same expected found
        "$T" grep $side --level error '' $id >found
        grep '\\[ERROR\\]' "$log" >expected
        same expected found
        "$T" grep $side --category Session . $id >found
        grep '\\[Session\\]' "$log" >expected
        same expected found
        "$T" grep $side --stream stdout -c . $id >found
        grep -c '\\[stdout\\]' "$log" >expected
        same expected found
        "$T" grep $side --until 2020-01-01 . $id >found; echo $?
        "$T" grep $side -l first $id
        "$T" grep $side --json 'ERROR: t' $id | jq -r '[.level, .stream, .message, .app] | @csv'
      done | sed "s/$id/ID/"
      """)
    let side = "1\nID\n\"ERROR\",\"stdout\",\"ERROR: two\",\"numbers\"\n"
    #expect(result.text == side + side && result.status == 0, "\(result.text) \(result.errors)")
  }

  @Test func `grep fetches only frames that may match`() async throws {
    let gets = Requests()
    let endpoint = try Endpoint(.webdav) { _, request in
      if request.method == "GET" { gets.add(request.head) }
      return nil
    }
    let result = try await Program(endpoint).shell(
      """
      cd "$FOLDER"
      "$T" init "$URL" >&2
      head -c 600000 /dev/urandom | base64 | "$T" log --no-upload >/dev/null
      "$T" upload
      "$T" grep --remote --level =FAULT ''; echo $?
      """)
    #expect(result.text == "1\n", "\(result.errors)")
    // The object is read whole as the proof of its upload; then only its index, of some 4 KB.
    let log = gets.all.filter { $0.contains(".log.zst") }.map { $0.lowercased() }
    #expect(log.count == 2 && log.count { $0.contains("range: bytes=") } == 1, "\(log)")
  }

  @Test func `grep searches sessions from oldest to newest`() async throws {
    let endpoint = try Endpoint(.directory)
    let result = try await Program(endpoint).shell(
      """
      cd "$FOLDER"
      "$T" init "$URL" >&2
      for app in a b c; do
        "$T" run --no-upload --app $app -- echo "hello $app" >/dev/null
        sleep 0.01
      done
      "$T" upload
      ids=$("$T" list --json | jq -sr 'map(.sessionId) | reverse[]')
      number() { set -- $ids; sed "s/$1/1/g; s/$2/2/g; s/$3/3/g"; }
      "$T" grep -l hello | number
      "$T" grep -c 'hello [bc]' | number
      "$T" grep --app b hello | number | sed 's/20.*stdout/x/'
      "$T" grep --all-devices hello | number | cut -c 1-2
      rm -r home/sessions home/cache
      "$T" grep 'hello c' | number | cut -c 1-2
      "$T" grep --since 2000-01-01 --until 2001-01-01 hello; echo $?
      "$T" grep --app nobody hello; echo $?
      """)
    #expect(
      result.text == "1\n2\n3\n1:0\n2:1\n3:1\nx] hello b\n1:\n2:\n3:\n3:\n1\n1\n",
      "\(result.text) \(result.errors)")
  }

  @Test func `grep matches and preserves arbitrary bytes`() async throws {
    let endpoint = try Endpoint(.directory)
    let result = try await Program(endpoint).shell(
      """
      cd "$FOLDER"
      "$T" init "$URL" >&2
      printf 'a\\000b\\n\\377\\376c\\r\\n\\033[31mred\\nhalf \\303\\nno end' >nasty
      "$T" import nasty >/dev/null
      "$T" upload
      for side in --local --remote; do
        id=$("$T" list --json | jq -r .sessionId)
        "$T" grep $side 'a.b' $id | od -An -tx1
        "$T" grep $side '^..c' $id | od -An -tx1
        "$T" grep $side -F '[31m' $id | od -An -tx1
        "$T" grep $side 'end$' $id
        "$T" grep $side --json 'half' $id | jq -r .messageBase64 | base64 -d | od -An -tx1
      done
      """)
    let side = """
       61 00 62 0a
       ff fe 63 0d 0a
       1b 5b 33 31 6d 72 65 64 0a
      no end
       68 61 6c 66 20 c3

      """
    #expect(result.text == side + side, "\(result.text) \(result.errors)")
  }

  @Test func `an unreadable session is an error, not a missing match`() async throws {
    let endpoint = try Endpoint(.directory)
    let result = try await Program(endpoint).shell(
      """
      \(Self.recorded)
      rm -r "$(dirname "$log")"
      for segment in "${URL#file://}"/devices/*/*/*.zst; do : >"$segment"; done
      "$T" grep first 2>error; echo $?
      grep -c "$id" error
      "$T" grep '(' 2>error; echo $?
      "$T" grep --local first $id 2>error; echo $?
      "$T" grep first nobody 2>error; echo $?
      """)
    #expect(result.text == "65\n1\n64\n64\n64\n", "\(result.text) \(result.errors)")
  }
}

/// The requests that a proxy saw.
final class Requests: @unchecked Sendable {
  // Unchecked: the array is only accessed under the lock.
  private let lock = NSLock()
  private var heads: [String] = []

  func add(_ head: String) { lock.withLock { heads.append(head) } }
  var all: [String] { lock.withLock { heads } }
}

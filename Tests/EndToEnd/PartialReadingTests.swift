import Foundation
import TestServers
import TestSupport
import Testing

/// `show` and `export` of parts of a session, and of the rest of a damaged one.
@Suite(.tags(.large)) struct PartialReadingTests {
  /// A session of 2.5 MB in two ticks, open, and `id`.
  private static let recorded = """
    set -eu
    cd "$FOLDER"
    "$T" init "$URL" >&2
    mkfifo in
    "$T" log --no-upload <in >console &
    exec 3>in
    seq 30000 >&3
    until grep -qs ' 30000$' home/sessions/*/*.log; do :; done
    "$T" upload
    (seq 30001 60000; echo 'ERROR: one'; echo 'ERROR: two'; echo last) >&3
    until grep -qs ' last$' home/sessions/*/*.log; do :; done
    "$T" upload
    log=$(echo home/sessions/*/*.log)
    id=$(basename "$log" .log)
    """

  @Test(arguments: Endpoint.Kind.allCases)
  func `partial reading gives the same bytes as the whole log`(kind: Endpoint.Kind) async throws {
    let endpoint = try Endpoint(kind)
    let result = try await Program(endpoint).shell(
      """
      \(Self.recorded)
      same() { cmp "$1" "$2" || exit 9; }
      for side in --local --remote; do
        for n in 0 1 7 20000 70000; do
          "$T" show $side -n $n $id >part
          tail -n $n "$log" >expected
          same expected part
        done
        "$T" show $side --raw --lines 3 $id >part
        tail -n 3 "$log" >expected
        same expected part
        "$T" show $side --level error -n 1 $id >part
        grep 'ERROR: two' "$log" >expected
        same expected part
        "$T" show $side --plain -n 2 $id >part
        printf 'ERROR: two\\nlast\\n' >expected
        same expected part
        # The last record's time: that much and no more.
        since=$(tail -n 1 "$log" | cut -c 1-24)
        "$T" show $side --since $since $id >part
        awk -v since="$since" '$1 >= since' "$log" >expected
        same expected part
        "$T" show $side --until 2020-01-01 $id >part
        same /dev/null part
        "$T" export $side -n 2 -o - $id | tail -n 2 >part
        tail -n 2 "$log" >expected
        same expected part
      done
      "$T" show --remote --salvage $id >part
      same "$log" part
      """)
    #expect(result.status == 0, "\(result.errors)")
  }

  @Test func `salvaging reads what remains and marks each GAP`() async throws {
    let endpoint = try Endpoint(.directory)
    let result = try await Program(endpoint).shell(
      """
      \(Self.recorded)
      first=$(ls "$FILES"/store/devices/*/*/*.zst | head -n 1)
      end=$(basename "$first" | cut -d - -f 3 | cut -d . -f 1)
      end=$(expr $end + 0)
      rm "$first"
      set +e
      "$T" show --remote $id >part 2>error; echo $?
      grep -c "bytes 0 to $end of $id are not there" error
      "$T" show --remote --raw --salvage $id >part 2>error; echo $?
      head -n 1 part | grep -c "^\\[GAP $end bytes: .*\\]$"
      tail -n +2 part >rest
      tail -c +$(expr $end + 1) "$log" | cmp - rest && echo rest
      grep -c "bytes 0 to $end are lost" error
      "$T" export --remote --salvage -o out $id 2>error; echo $?
      grep -c GAP out/$id.txt
      "$T" pull --salvage mirror 2>error; echo $?
      cmp part mirror/*/*/$id.salvaged.log && ls mirror/*/*/$id.* | wc -l
      # The last lines do not need what is gone, but a stream with a gap is told.
      "$T" verify $id >said; echo $?
      grep -c 'are not there' said
      """)
    #expect(
      result.text == "65\n1\n65\n1\nrest\n1\n65\n1\n65\n1\n65\n1\n",
      "\(result.text) \(result.errors)")
  }
}

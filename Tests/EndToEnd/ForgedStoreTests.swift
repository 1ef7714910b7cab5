import Foundation
import TestServers
import TestSupport
import Testing

/// Reads a store in which someone else has put objects, too.
@Suite(.tags(.large)) struct ForgedStoreTests {
  /// A sealed session `id` with its `log`, and its `folder` in the store.
  private static let recorded = """
    "$T" init "$TIDEMARK_STORE" >&2
    "$T" run --no-upload -- seq 1 2000 >/dev/null
    "$T" upload || exit 99
    log=$(echo home/sessions/*/*.log)
    id=$(basename "$log" .log)
    folder=$(echo "$FILES"/*/devices/*/20*)
    length=$(wc -c <"$log")
    """

  /// Not on S3: rclone lists what it knows, and does not notice files that are added.
  @Test(arguments: [Endpoint.Kind.directory, .webdav])
  func `no reader accepts an object that the seal does not name`(kind: Endpoint.Kind) async throws {
    let endpoint = try Endpoint(kind)
    let result = try await Program(scriptsFor: endpoint).script(
      """
      \(Self.recorded)
      # The whole stream and more, under a lawful name: it reaches further than any other.
      (tr 1 7 <"$log"; echo further) >raw
      zstd -qf raw -o object
      hash=$(sha256sum <raw | cut -c 1-16)
      range=000000000000-$(printf %012d $(wc -c <raw))
      cp object "$folder/$id.g1.$range.$hash.$(wc -c <object).log.zst"
      same() { cmp "$2" "$3" || { echo "$1 differs"; exit 9; }; }
      "$T" show --remote --raw $id >shown; same show "$log" shown
      "$T" show --remote --raw --salvage $id >shown; same salvage "$log" shown
      tail -n 5 "$log" >last
      "$T" show --remote --raw -n 5 $id >shown; same lines last shown
      "$T" tail --remote -n 5 $id >shown; same tail last shown
      "$T" grep --remote -F 777 $id >shown; grep -F 777 "$log" >found; same grep found shown
      "$T" export --remote -o - $id >shown
      tail -c $length shown >tail; same export "$log" tail
      "$T" export --remote --merge --format jsonl -o - $id | wc -l >lines
      [ "$(cat lines)" = "$(wc -l <"$log")" ] || exit 8
      "$T" verify $id >said || exit 7
      "$T" pull mirror || exit 6
      same pull "$log" mirror/*/*/$id.log
      "$S/export-session.sh" $id -o shown || exit 5
      same script "$log" shown
      """)
    #expect(result.status == 0, "\(result.status) \(result.text) \(result.errors)")
  }

  /// Writes a seal with a change, `reseal NUMBER JQ-FILTER`.
  private static let reseal = """
    reseal() {
      jq "($2) | del(.signature)" "$folder/$id".s*.json >changed
      hash=$(sha256sum <changed | cut -c 1-16)
      seal="$folder/$id.s$1.terminated.$(printf %012d $length).$hash.$(wc -c <changed).json"
      cp changed "$seal"
    }
    """

  @Test func `every reader refuses a seal that contradicts itself`() async throws {
    let endpoint = try Endpoint(.directory)
    let result = try await Program(scriptsFor: endpoint).script(
      """
      \(Self.recorded)
      \(Self.reseal)
      mkdir elsewhere; cp home/tidemark.yaml elsewhere
      tried() {
        reseal 0900 "$1"
        for command in "show --raw" "export --format tar -o all.tar" "export --merge -o all.txt" \\
          "grep -c nothing-that-is-there" verify
        do
          TIDEMARK_HOME=$PWD/elsewhere "$T" $command $id >/dev/null 2>error
          echo "$? ${command%% *} $(grep -c "$2" error)"
        done
        TIDEMARK_HOME=$PWD/elsewhere "$T" pull mirror --all-devices 2>error
        echo "$? pull $(grep -c "$2" error) $(find mirror -type f | wc -l)"
        "$S/export-session.sh" $id >shown 2>error
        echo "$? script $(wc -c <shown)"
        rm "$seal"
      }
      tried '.digest |= (.[0:60] + "0000")' "is not the log that it was sealed with"
      tried '.objects = []' "names no object for bytes 0 to $length"
      tried 'del(.objects)' "without naming its objects"
      tried '.deviceId = "../../out"' "holds the sidecar of"
      tried '.basis = .objects' "cannot be one of the stream"
      tried '.objects += [.objects[0] | sub("[.]g1[.]"; ".g2.")]' "cannot be one of the stream"
      tried '.indexes += [null]' "one index for each object"
      find . -name 'out*'
      reseal 0900 '.indexes |= map("0123456789abcdef0123456789abcdef")'
      "$S/export-session.sh" $id >shown 2>error
      echo "$? $(grep -c 'another index than its seal names' error) $(wc -c <shown)"
      """)
    let readers = ["65 show 1", "65 export 1", "65 export 1", "65 grep 1", "65 verify 0"]
    let told = (readers + ["65 pull 1 0", "65 script 0"]).joined(separator: "\n") + "\n"
    #expect(
      result.text == String(repeating: told, count: 7) + "65 1 0\n",
      "\(result.text) \(result.errors)")
  }

  /// Somebody with another device's login has put a session with the same id there.
  @Test func `another device's session with the same id is never taken for it`() async throws {
    let endpoint = try Endpoint(.directory)
    let result = try await Program(scriptsFor: endpoint).script(
      """
      \(Self.recorded)
      mkdir elsewhere; cp home/tidemark.yaml elsewhere
      export TIDEMARK_HOME=$PWD/elsewhere
      own=$(basename "${folder%/*}"); other=0000000000000000
      forged="${folder%/*/*}/$other/${folder##*/}"
      mkdir -p "$forged"
      # An object without bytes, under a lawful name, hides nothing.
      empty="$forged/$id.g1.000000000000-000000000010.0123456789abcdef.0.log.zst"
      touch "$empty"
      "$T" show --raw $id | cmp - "$log" && echo same
      "$T" list --all-devices | grep -c $id
      "$T" verify $id >/dev/null && echo whole
      "$T" grep -c -F 777 --all-devices >/dev/null && echo found
      rm "$empty"
      cp "$folder"/*.zst "$forged"
      jq ".deviceId = \\"$other\\" | del(.signature, .previous, .indexes)" "$folder/$id".s*.json >changed
      hash=$(sha256sum <changed | cut -c 1-16)
      seal="$id.s0001.terminated.$(printf %012d $length).$hash.$(wc -c <changed).json"
      cp changed "$forged/$seal"
      for command in show tail "restore --dry-run" verify "export -o -" "grep 7" keep \
        "delete --yes"
      do
        "$T" $command $id >/dev/null 2>error
        echo "$? ${command%% *} $(grep -c "2 devices have a session $id: $other, $own" error)"
      done
      "$T" list --all-devices | grep -c $id
      "$T" verify --all-devices | grep -c "/$id  ok"
      "$T" show --raw $own/$id | cmp - "$log" && echo same
      "$T" export --all-devices -o out && ls out | wc -l
      "$T" pull mirror --all-devices && find mirror -name "$id.log" | wc -l
      "$T" restore --dry-run --from mirror $id 2>/dev/null; echo $?
      "$T" restore --dry-run --from mirror $own/$id >/dev/null 2>&1; echo $?
      "$T" delete --yes $other/$id >/dev/null; echo $?
      ls "$forged" | wc -l
      "$T" show --raw $id | cmp - "$log" && echo same
      """)
    let commands = ["show", "tail", "restore", "verify", "export", "grep", "keep", "delete"]
    let told = commands.map { "64 \($0) 1\n" }.joined()
    #expect(
      result.text == "same\n1\nwhole\nfound\n\(told)2\n2\nsame\n2\n2\n64\n0\n0\n0\nsame\n",
      "\(result.text) \(result.errors)")
  }

  /// Twenty gigabytes of zeros in every kind of object that readers open.
  @Test func `huge objects in the store take no memory`() async throws {
    let endpoint = try Endpoint(.directory)
    let result = try await Program(scriptsFor: endpoint).script(
      """
      \(Self.recorded)
      huge=21474836480
      hash=0123456789abcdef
      ulimit -v 6000000
      truncate -s $huge "${folder%/*}/device.json"
      mkdir "${folder%/*/*}/other"
      truncate -s $huge "${folder%/*/*}/other/device.json"
      truncate -s $huge "$folder/$id.s0900.terminated.000000000010.$hash.$huge.json"
      truncate -s $huge "$folder/$id.s0901.terminated.000000000010.$hash.500.json"
      truncate -s $huge "$folder/$id.g1.000000000000-000000999999.$hash.$huge.log.zst"
      truncate -s $huge "$folder/$id.g1.000000000000-000000999998.$hash.500.log.zst"
      "$T" list --remote --all-devices | grep -c TERMINATED
      "$T" show --remote --raw $id | cmp - "$log" && echo same
      "$T" verify $id >/dev/null && echo whole
      "$S/export-session.sh" $id | cmp - "$log" && echo same
      printf '{"format":2}' >"$FILES/store/tidemark.json"
      truncate -s $huge "$FILES/store/tidemark.json"
      "$S/export-session.sh" $id >shown 2>/dev/null; echo $?
      """)
    #expect(result.text == "1\nsame\nwhole\nsame\n78\n", "\(result.text) \(result.errors)")
  }

  /// A name may state any length: a fetch that cannot fit is not begun, and an export goes on with the
  /// other sessions.
  @Test func `a session that claims more than the disk holds does not stop others`() async throws {
    let endpoint = try Endpoint(.directory)
    let result = try await Program(scriptsFor: endpoint).script(
      """
      \(Self.recorded)
      "$T" run --no-upload -- seq 1 10 >/dev/null
      "$T" upload || exit 98
      other=$(basename $(ls home/sessions/*/*.log | grep -v $id) .log)
      # As if the session were older than the key, so that it needs no signature.
      jq '.created = "2096-01-01T00:00:00.000Z" | del(.isFirst)' home/control/key.json >key && mv key home/control/key.json
      rm "$folder/$id".s*.json
      cp "$folder/$id".*.zst object
      hash=0123456789abcdef
      cp object "$folder/$id.g1.000000000000-999999999999.$hash.$(wc -c <object).log.zst"
      jq 'del(.digest, .objects, .signature) | .status = "ACTIVE"' home/sessions/*/$id.json >changed
      hash=$(sha256sum <changed | cut -c 1-16)
      cp changed "$folder/$id.s0900.active.000000000000.$hash.$(wc -c <changed).json"
      "$T" pull mirror 2>error; echo $?
      grep -c "it becomes more than 250 times" error
      "$T" pull mirror --max-size 2TB 2>error; echo $?
      grep -c "takes 999999999999 bytes, and there is room for" error
      find mirror -type f -name "$id*" | wc -l
      for options in "-o out" "--format tar -o out/all.tar" "--merge -o out/all.txt"; do
        "$T" export --remote $options $id $other 2>error
        echo "$? $(grep -c "$id is left out" error) $(find out -type f | wc -l)"
      done
      """)
    #expect(
      result.text == "65\n1\n75\n1\n0\n65 1 1\n65 1 2\n65 1 3\n",
      "\(result.text) \(result.errors)")
  }
}

import TestServers
import TestSupport
import Testing

/// Seals that someone else writes into a store.
@Suite(.tags(.large)) struct SignedSealTests {
  /// Sessions from before the key need no signature.
  @Test func `a device has its key before its first session`() async throws {
    let program = try Program()
    let result = try await program.shell(
      "$T run --no-upload -- true; stat -c %a $TIDEMARK_HOME/control/key.json")
    #expect(result.text == "600\n", "\(result.errors)")
  }

  @Test func `every reader refuses a forged revision`() async throws {
    let endpoint = try Endpoint(.directory)
    let result = try await Program(endpoint).shell(
      """
      set -u
      cd "$FOLDER"
      "$T" init "$URL" >&2
      "$T" upload
      # As if the device had had its key for long.
      jq '.created = "2026-01-01T00:00:00.000Z"' home/control/key.json >key && mv key home/control/key.json
      "$T" run --no-upload --app first -- echo hello >/dev/null
      "$T" upload
      id=$("$T" list --json | jq -r .sessionId)
      seal=$(ls "$FILES"/store/devices/*/*/*.terminated.*.json)
      folder=${seal%/*}
      # By the document of the format alone.
      key=$(jq -r '.signature.key' "$seal")
      (printf '\\060\\052\\060\\005\\006\\003\\053\\145\\160\\003\\041\\000'; printf %s "${key#ed25519:}" | base64 -d) >key.der
      place=${seal#"$FILES/store/"}
      place=${place%.*.*.json}
      jq -r .signature.sig "$seal" | base64 -d >sig
      { printf 'tidemark seal 1\\n%s\\n%s %s\\n' "$place" "$key" "$(jq -r .signature.since "$seal")"
        sed '/^  "signature" : {$/,/^  },$/d' "$seal"; } >message
      openssl pkeyutl -verify -pubin -keyform DER -inkey key.der -rawin -in message -sigfile sig
      "$T" doctor --json | jq -r '.surroundings[0].key' | grep -cF "$key"
      "$T" pull reader >&2
      TIDEMARK_HOME=$FOLDER/other "$T" init "$URL" >&2
      TIDEMARK_HOME=$FOLDER/other "$T" pull mirror --all-devices >&2
      jq -r '.[].key' other/trust.json | grep -cF "$key"
      read_it() {
        for home in home other; do
          for command in "verify $id" "show --remote $id" "pull again --all-devices"; do
            TIDEMARK_HOME=$FOLDER/$home "$T" $command >/dev/null 2>>errors
            echo "$home ${command%% *}: $?"
          done
        done
      }
      forge() {
        jq -S "$1" "$seal" >forged
        hash=$(sha256sum forged | head -c 16)
        if [ "$place" = "${2:-$place}" ]; then rm "$seal"; fi
        seal="$FILES/store/${2:-$place}.$hash.$(wc -c <forged | tr -d ' ').json"
        cp forged "$seal"
        read_it
        grep -o 'wrong signature\\|is not signed' errors | sort | uniq -c | tr -s ' '
        rm errors
      }
      forge '.appName = "second"'
      forge 'del(.signature)'
      # What says that it goes on again is as good a forgery.
      forge 'del(.objects, .digest, .endedAt, .cause) | .status = "ACTIVE"' \
        "${place%/*}/$id.s0009.active.000000000000"
      TIDEMARK_HOME=$FOLDER/other "$T" verify --deep $id >/dev/null 2>>errors
      echo "verify: $?"
      for command in "tail --remote $id" "grep --remote hello $id" \
        "export --remote -o copy $id" "restore $id"; do
        TIDEMARK_HOME=$FOLDER/other "$T" $command 2>>errors
        echo "${command%% *}: $?"
      done
      # It hides no session from those who look for failed ones.
      TIDEMARK_HOME=$FOLDER/other "$T" list --all-devices --failed 2>>errors | grep -c '? UNKNOWN'
      TIDEMARK_HOME=$FOLDER/other "$T" list --all-devices --failed --json >/dev/null 2>>errors
      echo "list: $?"
      TIDEMARK_HOME=$FOLDER/other "$T" verify --all-devices --failed >/dev/null 2>>errors
      echo "verify: $?"
      # Neither is a log without any revision a signing device's.
      rm "$FILES"/store/devices/*/*/$id.*.json
      read_it
      # Unless it is named, it may be being sent.
      TIDEMARK_HOME=$FOLDER/other "$T" list --all-devices --remote --json
      echo "list: $?"
      touch -d '2 hours ago' "$FILES"/store/devices/*/*/$id.*
      TIDEMARK_HOME=$FOLDER/other "$T" list --all-devices --remote --json 2>>errors | jq .rejected
      TIDEMARK_HOME=$FOLDER/other "$T" list --all-devices --remote >/dev/null 2>>errors
      echo "list: $?"
      TIDEMARK_HOME=$FOLDER/other "$T" list --all-devices --summary >/dev/null 2>>errors
      echo "summary: $?"
      TIDEMARK_HOME=$FOLDER/other "$T" crashes 2>>errors
      echo "crashes: $?"
      """)
    func refused() -> [String] {
      ["home", "other"].flatMap { home in
        ["\(home) verify: 65", "\(home) show: 65", "\(home) pull: 65"]
      }
    }
    let readers =
      ["verify", "tail", "grep", "export", "restore"].map { "\($0): 65" }
      + ["1", "list: 65", "verify: 65"] + refused()
      + ["list: 0", "true", "list: 65", "summary: 65", "crashes: 65"]
    let expected =
      ["Signature Verified Successfully", "1", "1"] + refused() + [" 4 wrong signature"]
      + refused() + [" 4 is not signed"]
      // The writer's home misses its own seal first.
      + refused() + [" 3 is not signed"] + readers
    #expect(
      result.text.split(separator: "\n").map(String.init) == expected,
      "\(result.text) \(result.errors)")
  }
}

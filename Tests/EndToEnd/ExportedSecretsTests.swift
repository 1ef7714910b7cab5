import TestServers
import TestSupport
import Testing

/// `export` masks sessions on this machine as uploads do.
@Suite(.tags(.large)) struct ExportedSecretsTests {
  @Test func `export masks secrets unless --show-secrets is given`() async throws {
    let endpoint = try Endpoint(.directory)
    let result = try await Program(endpoint).shell(
      """
      set -u
      umask 022
      cd "$FOLDER"
      token=ghp_0123456789abcdefghijABCDEFGHIJ012345
      "$T" init "$URL" >&2
      "$T" run --no-upload --app "both $token" -- sh -c "echo it is $token" >/dev/null
      "$T" upload
      printf '2026-01-22T14:30:05.123Z [INFO] [%s] of %s\\n' $token $token >own.log
      "$T" import own.log >/dev/null
      ids=$("$T" list --all --json | jq -r .sessionId)
      mkdir plain open
      touch -m .all.tar.partial && chmod 644 .all.tar.partial
      for side in '' --local; do
        for format in text jsonl tar; do
          out=$format$side
          [ $format != tar ] || out=all.tar
          "$T" export $side --format $format -o $out $ids || exit 9
          grep -raqF $token $out && echo "$side $format: a secret"
          grep -raqF '[REDACTED:github***' $out || echo "$side $format: no mask"
          find $out -type f ! -perm 600 -exec stat -c '%n %a' {} +
        done
        for format in text jsonl; do
          "$T" export $side --merge --format $format -o merged $ids || exit 8
          grep -aqF $token merged && echo "$side merge $format: a secret"
          [ $(grep -acF 'REDACTED:github' merged) -ge 2 ] || echo "$side merge $format: no mask"
        done
      done
      "$T" export --remote --format jsonl -o - --app "$("$T" list --remote --json | jq -r .appName)" |
        grep -cF REDACTED
      "$T" export --show-secrets -o open $ids
      cat open/* | grep -acF "it is $token"
      """)
    #expect(
      result.text.split(separator: "\n").suffix(1) == ["1"] && !result.text.contains(": "),
      "\(result.text) \(result.errors)")
  }
}

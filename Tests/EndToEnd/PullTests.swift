import Foundation
import TestServers
import TestSupport
import Testing

/// A mirror of the store in a folder.
@Suite(.tags(.large)) struct PullTests {
  @Test(arguments: Endpoint.Kind.allCases)
  func `repeated pulls keep a mirror up to date`(kind: Endpoint.Kind) async throws {
    let endpoint = try Endpoint(kind)
    let program = try Program(endpoint)
    let script = """
      set -eu
      cd '\(program.folder.path)'
      $T init '\(endpoint.url)' >&2
      $T run --app first --no-upload -- sh -c 'echo one; seq 20000' >/dev/null
      echo attached 1 >there.log
      sed -i "/^sources:/a\\\\  - path: $PWD/there.log" home/tidemark.yaml
      $T upload
      $T pull mirror --names
      mark() { find mirror -name '*.log' -printf '%i %s %P\\n' | sort; }
      mark >before
      $T pull mirror --names
      mark | cmp - before
      echo attached 2 >>there.log
      $T upload
      $T pull mirror --dry-run
      $T pull mirror --json
      for log in mirror/*/20*/*.log; do
        id=$(basename "$log" .log)
        $T show --raw --remote "$id" | cmp - "$log"
        [ "$(jq -r .sessionId "${log%.log}.json")" = "$id" ]
      done
      cat mirror/*/names$PWD/there.log/*.log
      # What was damaged is fetched anew when the sidecar is; what is whole is not touched.
      sealed=$(grep -l '"first"' mirror/*/20*/*.json)
      printf X | dd of="${sealed%.json}.log" conv=notrunc 2>/dev/null
      echo >>"$sealed"
      $T pull mirror
      $T show --raw --remote "$(basename "$sealed" .json)" | cmp - "${sealed%.json}.log"
      """
    let pulled = try await program.shell(script)
    #expect(pulled.status == 0, "\(pulled.errors)")
    let text = pulled.text
    #expect(text.contains("11 B") || text.contains("11 bytes"), "\(text)")
    #expect(text.contains(#""logBytes":11"#) && text.contains(#""sessions":1"#), "\(text)")
    #expect(text.hasSuffix("attached 1\nattached 2\n"), "\(text)")
  }

  @Test func `an impossible pull is reported with its cause`() async throws {
    let endpoint = try Endpoint(.directory)
    let program = try Program(endpoint)
    let mirror = program.folder.path + "/mirror"
    #expect(try await program.run("pull", mirror).status == 78)
    #expect(try await program.run("init", endpoint.url).status == 0)
    #expect(try await program.run("pull").status == 64)
    #expect(try await program.run("pull", mirror, "../x").status == 64)
    #expect(try await program.run("pull", mirror, "--device", "nobody").status == 64)
    try await program.record("echo", "hello")
    let locked = try await program.shell(
      "cd '\(program.folder.path)' && mkdir m; exec 9<m; flock 9; $T pull m 9<&-; echo $?")
    #expect(locked.text == "75\n" && locked.errors.contains("another pull"), "\(locked.errors)")
    #expect(try await program.run("pull", program.folder.path + "/m").status == 0)
    let failed = try await program.run("pull", "/proc/mirror")
    #expect(failed.status == 1 && failed.errors.contains("/proc/mirror"), "\(failed.errors)")
  }
}

import Foundation
import TestServers
import TestSupport
import Testing

/// Alerts as cron runs them, and what a device tells of itself.
@Suite(.tags(.large)) struct AlertTests {
  /// A program on one home is killed, with its recorder and without, and an operator with another home
  /// hears of each once.
  @Test func crashTellsBeforeAnybodyCalls() async throws {
    let endpoint = try Endpoint(.webdav)
    let result = try await Program(endpoint).shell(
      """
      set -u
      cd "$FOLDER"
      export TIDEMARK_HOME=$FOLDER/device
      "$T" init "$URL" >&2
      sed -i 's|^#on-crash: .*|on-crash: [/bin/sh, -c, cat >>$FOLDER/told]|' device/tidemark.yaml
      export TIDEMARK_HOME=$FOLDER/operator
      "$T" init "$URL" >&2
      cat >operator/alerts.yaml <<END
      alerts:
      - name: crashed
        when: crash
        then: [file]
      - name: errors
        when: level
        level: ERROR
      targets:
        file: {command: [/bin/sh, -c, "cat >>$FOLDER/alerts"]}
      END
      sed -i 's/^      //' operator/alerts.yaml
      run() { TIDEMARK_HOME=$FOLDER/device "$T" "$@"; }
      run run -- true
      run upload
      "$T" alert; echo "first $?"

      # Its recorder lives.
      run run -- sh -c 'echo ERROR: worker 7 at 0xab12 >&2; kill -SEGV $$'; echo "run $?"
      "$T" alert --check; echo "second $?"
      jq -r .text alerts | sed 's/tidemark show .*//'; rm alerts
      jq -r '.event, .cause' told; rm told

      # Its recorder dies with it.
      run run --no-upload -- sh -c 'echo ERROR: worker 31 at 0xff00 >&2; echo $$ >pid; exec sleep 1000' &
      until [ -s pid ]; do sleep 0.05; done
      kill -9 $! $(cat pid)
      wait
      run upload
      "$T" alert --check; echo "third $?"
      jq -r .cause alerts
      jq -r '.event, .cause' told
      "$T" alert --check; echo "fourth $?"
      "$T" alert status | cut -d: -f1
      "$T" crashes | sed 's/;.*;.*//'
      run crashes --local --json | jq -c '[.count, .cause, .devices[0] == .devices[-1]]'
      """)
    let expected = """
      first 0
      Segmentation fault
      """
    _ = expected
    #expect(result.text.contains("first 0\n"), "\(result.text) \(result.errors)")
    let lines = result.text.split(separator: "\n").map(String.init)
    #expect(lines.contains("run 139") && lines.contains("second 1") && lines.contains("third 1"))
    #expect(lines.contains { $0.hasPrefix("errors: sh on ") }, "\(result.text)")
    #expect(lines.contains { $0.contains("ended: signal 11 (SIGSEGV)") }, "\(result.text)")
    #expect(lines.filter { $0 == "crash" }.count == 2, "\(result.text) \(result.errors)")
    #expect(lines.filter { $0 == "recorder lost" }.count == 2, "\(result.text) \(result.errors)")
  }
}

import Foundation
import TestServers
import TestSupport
import Testing

/// Alerts as run by cron, and what a device reports about itself.
@Suite(.tags(.large)) struct AlertTests {
  /// A device's home, an operator's with rules, and `run`, the program on the device.
  private static let setup = """
    set -u
    cd "$FOLDER"
    TIDEMARK_HOME=$FOLDER/device "$T" init "$URL" >&2
    export TIDEMARK_HOME=$FOLDER/operator
    "$T" init "$URL" >&2
    hook="[/bin/sh, -c, 'cat >>$FOLDER/told']"
    sed -i "s|^#on-crash: .*|on-crash: $hook|" device/tidemark.yaml
    cat >operator/alerts.yaml <<END
    alerts:
    - name: crashed
      when: crash
      then: [file]
    - name: errors
      when: level
      level: =ERROR
    targets:
      file: {command: [/bin/sh, -c, 'cat >>$FOLDER/alerts']}
    END
    run() { TIDEMARK_HOME=$FOLDER/device "$T" "$@"; }

    """

  /// A program on one home is killed, with its recorder and without, and an operator with another
  /// home is notified once of each.
  @Test func `each crash on a device alerts the operator once`() async throws {
    let endpoint = try Endpoint(.webdav)
    let result = try await Program(endpoint).shell(
      Self.setup + """
        run run -- true
        run upload
        "$T" alert --check; echo "first $?"

        # Its recorder lives.
        run run --app player -- sh -c 'echo ERROR: worker 7 at 0xab12 >&2; kill -SEGV $$' 2>errors
        run upload
        "$T" alert --check >out; echo "second $?"; sed 's/ on .*//' out
        jq -r '[.alert, .cause, .count] | @csv' alerts; rm alerts
        jq -r '[.event, .app, .cause] | @csv' told; rm told

        # Its recorder dies with it.
        TIDEMARK_HOME=$FOLDER/device "$T" run --app player --no-upload -- sh -c \
          'echo ERROR: worker 31 at 0xff00 >&2; echo $$ >pid; exec sleep 1000' 2>>errors &
        until [ -s pid ]; do sleep 0.05; done
        kill -9 $! $(cat pid)
        wait
        run upload
        "$T" alert --check >/dev/null; echo "third $?"
        jq -r '[.alert, .cause, .count] | @csv' alerts
        jq -r '[.event, .app, .cause] | @csv' told
        "$T" alert >/dev/null; echo "fourth $?"
        jq -s length alerts
        "$T" crashes --json | jq -r '[.count, .app, .cause, .signature.title] | @csv' | sort
        """)
    #expect(
      result.text == """
        first 0
        second 1
        errors: player
        "crashed","signal 11 (SIGSEGV)",1
        "crash","player","signal 11 (SIGSEGV)"
        third 1
        "crashed","recorder lost",1
        "crash","player","recorder lost"
        fourth 0
        1
        1,"player","recorder lost","ERROR: worker <n> at <addr>"
        1,"player","signal 11 (SIGSEGV)","ERROR: worker <n> at <addr>"

        """, "\(result.text) \(result.errors)")
  }

  /// A device whose store refuses it, an operator whose target fails, and who watches both.
  @Test func `a stalled upload runs its hook, and heartbeats stop`() async throws {
    let endpoint = try Endpoint(.webdav)
    let watcher = try ScriptedServer(
      Array(repeating: ScriptedServer.answer("200 OK"), count: 9))
    var program = try Program(endpoint)
    program.environment["PING"] = watcher.url
    let result = try await program.shell(
      Self.setup + """
        sed -i "s|^#on-stale: .*|on-stale: [/bin/sh, -c, 'cat >>$FOLDER/stale']|
          s|^#heartbeat:.*|heartbeat: $PING/device|; s|^#stale-after: .*|stale-after: 1s|" \
          device/tidemark.yaml
        sed -i 's|command: .*|command: [/bin/false]}|' operator/alerts.yaml
        echo "heartbeat: $PING/operator" >>operator/alerts.yaml
        run run --no-upload -- true
        run upload --now; echo "upload $?"
        "$T" alert; echo "alert $?"

        run run --no-upload -- sh -c 'kill -SEGV $$' 2>errors
        for attempt in $(seq 1000); do
          TIDEMARK_WEBDAV_PASSWORD=wrong run upload --now 2>>errors; status=$?
          [ -s stale ] && break
        done
        echo "refused $status"
        TIDEMARK_WEBDAV_PASSWORD=wrong run upload --now 2>>errors
        jq -r '[.event, (.error | contains("401")), .lastSuccess != null, .command] | @csv' stale
        # The crash was told, whatever the store says.
        jq -r .event told

        run upload --now; echo "upload $?"
        "$T" alert --check 2>/dev/null; echo "undelivered $?"
        "$T" alert status | tail -n 1 | tr -s ' '
        """)
    #expect(
      result.text == """
        upload 0
        alert 0
        refused 77
        "stale",true,true,"tidemark status"
        crash
        upload 0
        undelivered 75
        undelivered file 1 failed once: /bin/false ended with status 1

        """, "\(result.text) \(result.errors)")
    #expect(
      watcher.received.map { $0.head.prefix { $0 != "H" } } == [
        "GET /device ", "GET /operator ", "GET /device ",
      ])
  }

  /// The commands that a person uses: silences, states, a test, devices and their sessions, and
  /// metrics.
  @Test func `alert silences, status, tests, device lists and metrics work`() async throws {
    let endpoint = try Endpoint(.directory)
    let result = try await Program(endpoint).shell(
      Self.setup + """
        run run --app player -- sh -c 'echo hello; exit 3'
        run upload
        "$T" alert >printed; echo "pass $?"; grep -c '^errors: player' printed
        "$T" alert --test crashed; jq -r .text alerts
        "$T" alert silence crashed --for 2h --reason 'it is known'
        "$T" alert silence --list | tr -s ' ' | sed 's/2[0-9-]* [0-9:]* it/then it/'
        "$T" alert silence crashed --end
        "$T" alert silence --list
        "$T" alert silence nothing --for 2h --reason x 2>&1
        "$T" alert silence crashed --reason x 2>/dev/null; echo "endless $?"
        "$T" alert status | tail -n 1 | sed 's/ on .*//' | tr -s ' '
        "$T" list --all-devices --summary --json | jq -c '[.openSessions, .crashes, .app]'
        "$T" list --all-devices --summary | head -1 | tr -s ' '
        "$T" list --all-devices --tree --lines 2 | sed 's/.*\\] //' | tail -n 2
        "$T" list --all-devices --tree --json | jq -c '.path | length'
        run status --prometheus | grep -E '^tidemark_(stale|crashes_24h|unproven_bytes|sessions)'
        run status --prometheus | grep -c '^tidemark_requests_total.*[1-9]$'
        chmod go+w operator/alerts.yaml; "$T" alert 2>/dev/null; echo "writable $?"
        rm operator/alerts.yaml; "$T" alert 2>/dev/null; echo "missing $?"
        """)
    #expect(
      result.text == """
        hello
        pass 0
        1
        crashed: example on example-device: signal 11 (SIGSEGV); This is a test of alert crashed; \
        nothing has happened.
        ALERT DEVICE UNTIL REASON
        crashed then it is known
        tidemark: no alert 'nothing'; there are: crashed, errors
        endless 64
        firing errors player
        [0,0,"player"]
        DEVICE SEEN OPEN WAITING CRASHES ERRORS VERSION
        hello
        SESSION END exit 3
        3
        tidemark_stale 0
        tidemark_unproven_bytes 0
        tidemark_sessions{state="active"} 0
        tidemark_sessions{state="crashed"} 0
        tidemark_sessions{state="terminated"} 1
        tidemark_crashes_24h 0
        3
        writable 78
        missing 78

        """, "\(result.text) \(result.errors)")
  }
}

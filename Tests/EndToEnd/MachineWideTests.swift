import Foundation
import TestServers
import TestSupport
import Testing

/// Root uploads for two users, `daemon` and `bin`, which every system has, in a separate mount
/// namespace: `/etc/tidemark` and `/var/lib/tidemark` of the machine are not touched.
@Suite(.tags(.large)) struct MachineWideTests {
  private func onAMachine(_ script: String) async throws -> Command.Result {
    try await Program().shellInMountNamespace(
      """
      mkdir -p /etc/tidemark /var/lib/tidemark
      for folder in /etc/tidemark /var/lib/tidemark; do
        mount -t tmpfs -o mode=755 tidemark-test $folder
      done
      $T init --machine file:///mnt/store >&2
      \(script)
      """)
  }

  @Test
  func `root uploads for all users, and each user sees only their own sessions`() async throws {
    let result = try await onAMachine(
      """
      as daemon $T run -- sh -c 'echo from daemon; exit 3' || echo "run $?"
      as bin $T run --no-upload -- echo from bin
      as daemon $T list --json | grep -o '"userId":"[a-z]*"'
      as daemon ls /var/lib/tidemark/bin 2>/dev/null || echo "ls $?"
      as daemon cat /mnt/store/tidemark.json 2>/dev/null || echo "cat $?"
      as daemon $T upload 2>/dev/null || echo "upload $?"
      as daemon $T reap --local --older-than 1s --yes 2>/dev/null || echo "reap $?"
      $T upload
      $T list --json | grep -o '"userId":"[a-z]*"' | sort
      $T verify --user daemon | grep -c 'equals the local log'
      # One user's home does not hide the others.
      as bin chmod 0 /var/lib/tidemark/bin/sessions
      $T status --json | grep -o '"user":"daemon"'
      as bin chmod 700 /var/lib/tidemark/bin/sessions
      $T reap --local --older-than 1s --dry-run --explain | grep -c ' local 2'
      $T reap --local --older-than 1s 2>&1 | grep -o '^tidemark: .* of . other users'
      $T delete --all --yes --user bin >&2
      as bin find /var/lib/tidemark/bin/sessions -type f | wc -l
      as daemon $T list --json | grep -o '"location":"[a-z]*"'
      find /var/lib/tidemark/daemon ! -user daemon
      """)
    #expect(result.status == 0, "\(result.errors)")
    #expect(
      result.text == """
        from daemon
        run 3
        from bin
        "userId":"daemon"
        ls 2
        cat 1
        upload 77
        reap 77
        "userId":"bin"
        "userId":"daemon"
        1
        "user":"daemon"
        2
        tidemark: would delete sessions older than 1s of 2 other users
        0
        "location":"both"

        """, "\(result.errors)")
  }

  /// Root's configuration names the command; the session's owner runs it, without a way back to
  /// root and without root's environment.
  @Test
  func `the crash hook runs as the session's owner, without root's environment`() async throws {
    let result = try await onAMachine(
      """
      mkdir -m 777 /mnt/out
      cat >/mnt/hook <<'END'
      cat >/mnt/out/told
      { id -un; id -run; setpriv --reuid=0 true 2>&- || echo not root; env | grep -c SECRET
        # What root reads from the upload is not the hook's to write.
        readlink /proc/$$/fd/3 || echo no descriptor; } \
        >/mnt/out/who
      ulimit -St >/mnt/out/limits; ulimit -Sd >/mnt/out/memory
      END
      chmod a+r /mnt/hook
      sed -i 's|^#on-crash: .*|on-crash: [/bin/sh, /mnt/hook]|' /etc/tidemark/tidemark.yaml
      crash() {
        rm -f /mnt/out/*
        as daemon bash -c 'echo $$ >/mnt/out/recorder
          exec $T run --no-upload -- sh -c "echo \\$\\$ >/mnt/out/pid; exec sleep 1000"' &
        until [ -s /mnt/out/pid ]; do sleep 0.05; done
        kill -9 $(cat /mnt/out/recorder) $(cat /mnt/out/pid)
        wait || true
      }
      crash
      # What a user writes there is nobody's configuration.
      as daemon sh -c 'echo "on-crash: [/usr/bin/touch, /mnt/out/own]" \
        >/var/lib/tidemark/daemon/tidemark.yaml'
      SECRET=x $T upload
      cat /mnt/out/who
      ulimit -St | cmp - /mnt/out/limits && ulimit -Sd | cmp - /mnt/out/memory
      grep -o '"event":"[a-z]*"' /mnt/out/told
      rm /mnt/out/told; $T upload; ls /mnt/out
      # A configuration that is not root's alone names nothing that is run.
      crash
      chmod g+w /etc/tidemark/tidemark.yaml
      $T upload 2>&1 | grep -o "'on-crash' is not run" || true
      ls /mnt/out
      """)
    #expect(result.status == 0, "\(result.errors)")
    #expect(
      result.text == """
        daemon
        daemon
        not root
        0
        no descriptor
        "event":"crash"
        limits
        memory
        pid
        recorder
        who
        'on-crash' is not run
        pid
        recorder

        """, "\(result.errors)")
  }

  @Test func `one user's links and names give no access to another's files`() async throws {
    let result = try await onAMachine(
      """
      mkdir /mnt/roots; echo 'the secret of root' > /mnt/roots/secret.log
      cp /mnt/roots/secret.log /mnt/roots/20260122t143005z-aaaaaaaa.log
      home=/var/lib/tidemark/bin
      as bin $T run -- echo from bin
      day=$(as bin ls $home/sessions)
      for id in aaaaaaaa bbbbbbbb cccccccc; do as bin touch $home/open/20260122t143005z-$id; done
      as bin ln -s /mnt/roots $home/sessions/2026-01-22
      as bin ln -s /mnt/roots/secret.log $home/sessions/$day/${day//-/}t000000z-dddddddd.log
      as bin touch $home/open/${day//-/}t000000z-dddddddd
      as bin mkfifo $home/sessions/$day/${day//-/}t000000z-eeeeeeee.log
      as bin touch $home/open/${day//-/}t000000z-eeeeeeee
      as bin sed -i 's/"userId" : "bin"/"userId" : "root"/' $home/sessions/$day/*.json
      as bin rm -r $home/cache $home/quarantine
      as bin ln -s /mnt/roots $home/quarantine
      as bin mkdir $home/cache; as bin ln -s /mnt/roots/secret.log $home/cache/manifest.sqlite
      as bin mkdir /var/lib/tidemark/games 2>/dev/null || echo 'games has a home'
      rmdir /var/lib/tidemark/games /var/lib/tidemark/sys
      as bin mkdir /var/lib/tidemark/games; as bin ln -s /mnt/roots /var/lib/tidemark/sys
      as daemon $T run -- echo from daemon
      $T upload || echo "upload $?"
      $T list --json | grep -o '"userId":"[a-z]*"' | sort
      find /mnt/store -name '*.zst' -exec zstd -dcq {} + | grep -c secret || true
      ls /mnt/roots; cat /mnt/roots/secret.log
      as games $T run -- echo still runs
      """)
    #expect(result.status == 0, "\(result.errors)")
    #expect(
      result.text == """
        from bin
        games has a home
        from daemon
        upload 1
        "userId":"bin"
        "userId":"daemon"
        0
        20260122t143005z-aaaaaaaa.log
        secret.log
        the secret of root
        still runs

        """, "\(result.errors)")
    #expect(result.errors.contains("not games's"))
    #expect(result.errors.contains("tidemark: /var/lib/tidemark/bin: "))
    // Without a terminal, too.
    #expect(
      result.errors.contains(
        "skipped: /var/lib/tidemark/games: it belongs to bin, not to games"))
  }

  /// As after `usermod -l`: the home has the former name, and is its user's by number.
  @Test func `a renamed user's unsent lines are named, and the advice gets them sent`()
    async throws
  {
    let result = try await onAMachine(
      """
      as daemon $T run --no-upload -- echo from daemon
      mv /var/lib/tidemark/daemon /var/lib/tidemark/formername
      $T upload || echo "upload $?"
      $T status >/mnt/status || echo "status $?"
      grep -c '^home  *.*formername: no user has this name' /mnt/status
      grep -c '^not uploaded  *[0-9]* B in 1 session that' /mnt/status
      $T status --json | grep -c '"sending":"refused"'
      grep -c 'stop the programs of daemon that record' /mnt/status
      command=$(grep -o "'runuser [^']*'" /mnt/status | tr -d "'")
      echo "$command"
      PATH=$PATH:/usr/sbin:/sbin $command; rm -r /var/lib/tidemark/formername
      $T upload && $T status >/mnt/status && $T verify --user daemon | grep -c 'equals the local log'
      """)
    #expect(result.status == 0, "\(result.errors)")
    #expect(
      result.text == """
        from daemon
        upload 1
        status 1
        1
        1
        1
        1
        runuser -u daemon -- cp -an /var/lib/tidemark/formername/. /var/lib/tidemark/daemon/
        1

        """, "\(result.errors)")
    #expect(
      result.errors.contains("it has ") && result.errors.contains("in 1 session that may not"))
  }

  /// Who pastes the advice has root's rights.
  @Test func `the advice on a hostile folder runs nothing of its owner's with root's rights`()
    async throws
  {
    let result = try await onAMachine(
      """
      as daemon $T run --no-upload -- echo from daemon
      mv /var/lib/tidemark/daemon '/var/lib/tidemark/x$(id)'
      as daemon ln -s /etc /var/lib/tidemark/daemon
      mkdir -p /var/lib/tidemark/y/open /var/lib/tidemark/y/sessions
      chown -R bin /var/lib/tidemark/y
      $T upload || echo "upload $?"
      $T status >/mnt/status || echo "status $?"
      grep -c "runuser" /mnt/status || true
      grep -cF "tidemark import '/var/lib/tidemark/x\\$(id)'/sessions" /mnt/status
      """)
    #expect(
      result.text == """
        from daemon
        upload 1
        status 1
        0
        1

        """, "\(result.errors)")
    #expect(result.errors.contains("skipped: /var/lib/tidemark/daemon: it is no folder"))
  }

  /// Each home is uploaded by a separate process that cannot become root again; if root writes the
  /// store's files itself, it can.
  @Test(arguments: [Endpoint.Kind.directory, .webdav])
  func `a home is uploaded with only its user's privileges`(kind: Endpoint.Kind) async throws {
    let endpoint = try Endpoint(kind)
    let store = kind == .directory ? "file:///mnt/store" : endpoint.url
    let rights = kind == .directory ? "0 1 0" : "1 1 1"
    let result = try await Program(endpoint).shellInMountNamespace(
      """
      mkdir -p /etc/tidemark /var/lib/tidemark
      for folder in /etc/tidemark /var/lib/tidemark; do
        mount -t tmpfs -o mode=755 tidemark-test $folder
      done
      $T init --machine \(store) >&2
      as daemon $T run -- echo from daemon
      mkfifo /mnt/held
      as daemon sh -c 'exec flock /var/lib/tidemark/daemon/lock cat' </mnt/held &
      exec 5>/mnt/held
      while as daemon flock -n /var/lib/tidemark/daemon/lock true; do sleep 0.1; done
      $T upload --home-of daemon --wait 1800s 3>/dev/null 5>&- &
      # It assumes the rights before the limits, and has root's once more in between.
      for attempt in $(seq 18000); do
        found="$(awk '/^Uid/ { print $2, $3, $4 }' /proc/$!/status)
      $(awk '/^Max data size/ { print $4 }' /proc/$!/limits)"
        [ "$found" = "\(rights)
      2147483648" ] && break
        sleep 0.1
      done
      echo "$found"
      # Who may signal it must not start a handler that reads its memory.
      caught=$(awk '/^SigCgt/ { print $2 }' /proc/$!/status)
      \(kind == .webdav ? "[ $((0x$caught & 0x400)) = 0 ] || echo SIGSEGV is handled" : "")
      as daemon cat /proc/$!/environ >/dev/null 2>&1 || echo "environ $?"
      exec 5>&-; wait $! && echo sent
      $T verify --user daemon | grep -c 'equals the local log'
      """)
    #expect(result.status == 0, "\(result.errors)")
    #expect(
      result.text == "from daemon\n\(rights)\n2147483648\nenviron 1\nsent\n1\n",
      "\(result.text) \(result.errors)")
  }

  @Test func `root's status shows the homes of others`() async throws {
    let result = try await onAMachine(
      """
      as daemon $T run --no-upload --scenario Net -- echo from daemon
      $T status | grep -c '^user  *daemon$'
      $T status --json | grep '"user":"daemon"' | grep -o '"openSessions":[0-9]*'
      $T status --prometheus | grep -o '^tidemark_stale{user="daemon"}'
      $T scenario list | grep -o Net
      """)
    #expect(result.status == 0, "\(result.errors)")
    #expect(
      result.text == """
        from daemon
        1
        "openSessions":1
        tidemark_stale{user="daemon"}
        Net

        """, "\(result.text) \(result.errors)")
  }

  /// Nobody reads what the process reports, so that it waits.
  ///
  /// One that writes the files of a store, as root, has root's rights in reserve.
  @Test(arguments: [("examine status", "1 1 1"), ("reap --dry-run", "0 1 0")])
  func `what root does in a user's home is done with only the user's privileges`(
    command: String, rights: String
  ) async throws {
    let result = try await onAMachine(
      """
      as daemon $T run --no-upload -- echo from daemon
      as daemon $T \(command) --home-of daemon 3>/dev/null || echo "alone $?"
      mkfifo /mnt/result
      exec 4<>/mnt/result
      head -c 65536 /dev/zero >&4
      $T \(command) --home-of daemon 3>/mnt/result 4>&- &
      for attempt in $(seq 300); do
        found="$(awk '/^Uid/ { print $2, $3, $4 }' /proc/$!/status)
      $(awk '/^Max data size/ { print $4 }' /proc/$!/limits)"
        [ "$found" = "\(rights)
      2147483648" ] && break
        sleep 0.1
      done
      echo "$found"
      as daemon cat /proc/$!/environ >/dev/null 2>&1 || echo "environ $?"
      # Its user cannot raise this one.
      echo $(awk '/^Max core file size/ { print $5, $6 }' /proc/$!/limits)
      kill -9 $!
      wait $! 2>/dev/null || true
      """)
    #expect(result.status == 0, "\(result.errors)")
    #expect(
      result.text == """
        from daemon
        alone 64
        \(rights)
        2147483648
        environ 1
        0 0

        """, "\(result.text) \(result.errors)")
  }

  /// `daemon` holds its home's lock, so that the process of its home waits.
  @Test func `the process of a home ends when root's upload is killed`() async throws {
    let result = try await onAMachine(
      """
      as daemon $T run -- echo from daemon
      mkfifo /mnt/held
      as daemon sh -c 'exec flock /var/lib/tidemark/daemon/lock cat' </mnt/held &
      exec 5>/mnt/held
      while as daemon flock -n /var/lib/tidemark/daemon/lock true; do sleep 0.1; done
      $T upload --wait 500s 5>&- &
      root=$! child=
      for attempt in $(seq 3000); do
        child=$(awk -v root=$root '/^PPid/ { isIts = $2 == root }
          /^Uid/ && isIts && $3 == 1 { split(FILENAME, parts, "/"); print parts[3] }' \
          /proc/[0-9]*/status 2>/dev/null || true)
        # Not the one that looks for unused homes.
        [ -n "$child" ] && grep -q -a home-of /proc/$child/cmdline && break
        sleep 0.1
      done
      kill -9 $root
      for attempt in $(seq 3000); do
        grep -q '^State:.[^Z]' /proc/$child/status 2>/dev/null || break
        sleep 0.1
      done
      grep -q '^State:.[^Z]' /proc/$child/status 2>/dev/null || echo "${child:+ended}"
      exec 5>&-
      """)
    #expect(result.status == 0, "\(result.errors)")
    #expect(result.text == "from daemon\nended\n", "\(result.text) \(result.errors)")
  }

  /// `daemon` makes the folder of scenarios' states before root does, and holds its lock.
  @Test func `only root decides which scenarios of a machine are on`() async throws {
    let result = try await onAMachine(
      """
      control=/var/lib/tidemark/control
      stat -c '%U %a' $control
      rm -r $control
      as daemon sh -c 'umask 0; mkdir '$control'; echo "{
        \\"scenarios\\": {\\"Net\\": {\\"isEnabled\\": true, \\"revision\\": 1,
        \\"created\\": \\"2026-01-22T14:30:05.123Z\\"}}}" > '$control/state.json
      as daemon sh -c 'umask 0; exec flock '$control'/lock sleep 1800' &
      until [ -e $control/lock ]; do sleep 0.1; done
      record() {
        as bin timeout 1800 $T run --no-upload --scenario Net -- \
          sh -c "$T log info --scenario Net 'record $1'" 2>/dev/null || echo "run $?"
      }
      record first
      timeout 1800 $T scenario enable Net || echo "enable $?"
      record second
      stat -c '%U %a' $control
      kill %1
      cat /var/lib/tidemark/bin/sessions/*/*.log | grep -oE 'record (first|second)'
      """)
    #expect(result.status == 0, "\(result.errors)")
    #expect(result.text == "root 755\nroot 755\nrecord second\n", "\(result.errors)")
  }

  /// Damage that the user `bin`, whose home comes before `daemon`'s, does to the home that root
  /// reads: `$id` is a session that waits for its upload, `sql` changes the cache.
  @Test(arguments: [
    #"sql "UPDATE store SET attempts = 'x'""#,
    #"""
    sql "INSERT INTO session SELECT url, '$id', 1, 'x', 0, 0, zeroblob(40), 0, '', 0, 0, NULL, 0,
      NULL, NULL FROM store"
    """#,
    // The result of a pass that could not reach the store.
    #"""
    sql "UPDATE store SET attempts = 1, nextAttempt = ($(date +%s) + 50) * 1000, lastError =
      CAST('{\"code\":\"unreachable\",\"operation\":\"GET\",\"target\":\"\",\"response\":\"\",
      \"advice\":\"\"}' AS BLOB)"
    """#,
    "rm $cache*; mkfifo $cache", "rm $cache*; mkfifo $cache-wal", "rm $cache*; mkdir $cache",
    "reads $files.log base 0 headLength -1", "reads $files.log base $least headLength 0",
    "reads $files.log base $greatest headLength 0 length $greatest",
    "rm $home/lock; mkfifo $home/lock", "rm -f $files.lock; mkfifo $files.lock",
    "rm $files.log; mkfifo $files.log", "rm $files.json; mkfifo $files.json",
    "rm $home/open/$id; mkfifo $home/open/$id", "mkfifo $files.redaction",
    #"echo '{"generation":'$greatest'}' > $files.redaction"#, "chmod 0 $home/open",
  ])
  func `a damaged home of one user does not stop uploads of others`(deed: String) async throws {
    let result = try await onAMachine(
      """
      as bin $T run -- echo from bin >&2
      $T upload
      as bin $T run -- echo more from bin >&2
      as daemon $T run -- echo from daemon >&2
      cat > /mnt/deed <<'END'
      set -eu
      home=/var/lib/tidemark/bin cache=$home/cache/manifest.sqlite
      id=$(ls $home/open)
      files=$(ls $home/sessions/*/$id.log)
      files=${files%.log}
      sql() {
        python3 -c 'if True:
          import sqlite3, sys
          database = sqlite3.connect(sys.argv[1])
          print(database.execute(sys.argv[2]).rowcount, "rows", file=sys.stderr)
          database.commit()' $cache "$1"
      }
      reads() {
        python3 -c 'if True:
          import hashlib, json, os, sys
          _, sidecar, log, *numbers = sys.argv
          status = os.stat(log)
          content = json.load(open(sidecar))
          content["source"] = {
            "path": log, "device": status.st_dev, "inode": status.st_ino,
            "headHash": hashlib.sha256(b"").hexdigest()[:32]}
          content["source"].update(zip(numbers[::2], map(int, numbers[1::2])))
          json.dump(content, open(sidecar, "w"))' $files.json "$@"
      }
      greatest=9223372036854775807 least=-9223372036854775808
      \(deed)
      END
      chmod a+r /mnt/deed
      as bin bash /mnt/deed
      timeout 1800 $T upload || echo "upload $?" >&2
      $T verify --user daemon | grep -c 'equals the local log'
      """)
    #expect(result.status == 0, "\(result.errors)")
    #expect(result.text == "1\n", "\(result.errors)")
    // Neither killed nor waited for in vain.
    #expect(!result.errors.contains(/upload 1\d\d/), "\(result.errors)")
  }
}

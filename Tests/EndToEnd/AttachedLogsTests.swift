import Foundation
import TestServers
import TestSupport
import Testing

/// Logs of other programs, from the configuration to the store.
@Suite(.tags(.medium)) struct AttachedLogsTests {
  @Test func `configured sources are uploaded as they grow and rotate`() async throws {
    let endpoint = try Endpoint(.directory)
    let program = try Program(endpoint)
    let result = try await program.shell(
      """
      set -eu
      cd '\(program.folder.path)'
      mkdir -p logs/api/old && echo 'api 1' >logs/api/service.log && echo no >logs/api/old/x.log
      $T init '\(endpoint.url)' >&2
      sed -i "/^sources:/a\\\\
        - path: $PWD/logs/*/*.log\\\\
          exclude: [old]\\\\
          app: \\$1" home/tidemark.yaml
      $T upload --dry-run
      $T upload
      echo 'api 2' >>logs/api/service.log
      $T upload
      mv logs/api/service.log logs/api/service.log.1
      echo 'api 3' >logs/api/service.log
      $T upload
      $T list --json
      id=$($T list --json | sed -n 's/.*"sessionId":"\\([^"]*\\)".*/\\1/p' | head -1)
      for id in $($T list --json | grep -o '"sessionId":"[^"]*"' | cut -d'"' -f4); do
        $T show --raw --remote $id; $T show $id
      done | sort
      $T verify
      """)
    #expect(result.status == 0, "\(result.errors)")
    let text = result.text
    #expect(text.hasPrefix("attach \(program.folder.path)/logs/api/service.log (6 B)\n"), "\(text)")
    #expect(text.contains(#""appName":"api""#))
    #expect(text.contains("api 1\napi 1\napi 2\napi 2\napi 3\napi 3\n"), "\(text)")
    #expect(!text.contains("no\n"))
  }

  @Test func `a redaction names what was sent under a former device id`() async throws {
    let endpoint = try Endpoint(.directory)
    let program = try Program(endpoint)
    let result = try await program.shell(
      """
      cd '\(program.folder.path)' && mkdir logs && echo 'customer=anna' >logs/app.log
      $T init '\(endpoint.url)' >&2
      sed -i "/^sources:/a\\\\
        - path: $PWD/logs/*.log" home/tidemark.yaml
      $T upload
      old=$(grep -o '"deviceId" *: *"[a-z0-9]*"' home/device.json | head -1 | cut -d'"' -f4)
      rm home/device.json
      $T upload 2>/dev/null
      sed -i "/^redact:/a\\\\
        rules:\\\\
        - kind: customer\\\\
          near: 'customer='\\\\
          pattern: 'customer=[a-z]+'" home/tidemark.yaml
      $T redact --apply-remote 2>errors; echo $?
      grep -c "former device id.* $old/" errors
      $T delete --yes --remote $(grep -o "$old/[^ ,]*" errors) >/dev/null; echo $?
      echo 'customer=berta' >>logs/app.log
      $T upload && $T redact --apply-remote; echo $?
      """)
    #expect(result.text.hasSuffix("re-sent\n1\n1\n0\n0\n"), "\(result.text)\(result.errors)")
  }

  @Test(.enabled(if: getuid() == 0, "only root can give a link away"))
  func `import follows another user's link only to that user's files`() async throws {
    let endpoint = try Endpoint(.directory)
    let program = try Program(endpoint)
    let result = try await program.shell(
      """
      cd '\(program.folder.path)' && $T init '\(endpoint.url)' >&2
      echo private >private.log; echo public >public.log
      ln -s private.log ours.log; ln -s private.log theirs.log; ln -s . theirs
      chown -h 65534 theirs.log theirs public.log
      for file in theirs.log theirs/private.log theirs/public.log ours.log; do
        $T import $file >/dev/null 2>>errors; echo $file: $?
      done
      grep -c 'another user made' errors
      $T import --dry-run theirs.log 2>/dev/null; echo $?
      mkdir folder; ln -s ../private.log folder/app.log; chown -h 65534 folder folder/app.log
      cd folder && $T import app.log 2>/dev/null; echo relative: $?
      """)
    #expect(
      result.text == """
        theirs.log: 78
        theirs/private.log: 78
        theirs/public.log: 0
        ours.log: 0
        2
        78
        relative: 78

        """, "\(result.errors)")
  }

  @Test func `import makes each file a session, once`() async throws {
    let endpoint = try Endpoint(.directory)
    let program = try Program(endpoint)
    let result = try await program.shell(
      """
      cd '\(program.folder.path)'
      $T init '\(endpoint.url)' >&2
      echo plain >a.log; echo packed | gzip >b.log.1.gz
      $T import a.log b.log.1.gz missing.log --app old; echo "import $?"
      $T import a.log | grep -c 'already imported'
      $T upload
      for id in $($T list --json | grep -o '"sessionId":"[^"]*"' | cut -d'"' -f4); do
        $T show --raw --remote $id
      done | sort
      rm a.log; $T upload; $T verify | grep -c ok
      """)
    #expect(result.status == 0, "\(result.errors)")
    #expect(result.text.contains("import 1\n1\npacked\nplain\n2\n"), "\(result.text)")
    #expect(result.errors.contains("missing.log"))
  }

  @Test(arguments: [
    ("- exclude: ['*.tmp']", "lacks its 'path'"), ("- path: logs/*.log", "absolute path"),
    ("- path: /a/*.log\n    idle-end: soon", "for 'idle-end'; use a time"),
    ("- path: /a/*.log\n    exlude: b", "did you mean 'exclude'"), ("- path: /a/", "absolute path"),
  ])
  func `an invalid source is reported with file, line and cause`(
    source: String, says: String
  ) async throws {
    let endpoint = try Endpoint(.directory)
    let program = try Program(endpoint)
    #expect(try await program.run("init", endpoint.url).status == 0)
    let result = try await program.shell(
      "printf '%s\\n' 'sources:' '  \(source.replacing("'", with: "'\\''"))' >'\(program.home)/tidemark.yaml'; $T upload"
    )
    #expect(result.status == 78)
    #expect(
      result.errors.contains(says) && result.errors.contains("tidemark.yaml:"), "\(result.errors)")
  }

  #if os(Linux)
    /// Where only the names of a folder can be read, or all but them, too.
    ///
    /// As a plain file and compressed, also when it was rotated before and is rotated again meanwhile. No log
    /// is waited for that got another name, or was removed.
    @Test
    func `a rotated log that cannot be read for a while is still the same log`() async throws {
      let result = try await Program().shellInMountNamespace(
        """
        umask 022
        export TIDEMARK_HOME=/mnt/home
        mkdir -m 777 /mnt/home /mnt/store
        mkdir -p /mnt/logs/sub /mnt/logs/linked /mnt/links /mnt/other
        for log in other excluded; do echo "$log 1" >/mnt/other/$log.log; done
        ln -s /mnt/logs/linked/linked.log /mnt/links
        for log in plain packed chain policy sub/named linked/linked; do
          echo "$log 1" >/mnt/logs/$log.log
        done
        as daemon $T init file:///mnt/store >&2
        sed -i '/^sources:/a\\  - path: /mnt/logs/*\\n  - path: /mnt/logs/sub/*' /mnt/home/tidemark.yaml
        sed -i '/^sources:/a\\  - path: /mnt/other/*.log\\n    exclude: [excluded.log.1]' \\
          /mnt/home/tidemark.yaml
        sed -i '/^sources:/a\\  - path: /mnt/links/*.log\\n    follow-links: true' /mnt/home/tidemark.yaml
        tick() { echo "-- $1"; as daemon $T upload 2>&1 && echo upload 0 || echo "upload $?"; }
        tick first
        for log in plain packed chain policy sub/named linked/linked; do
          echo "$log 2" >>/mnt/logs/$log.log
          mv /mnt/logs/$log.log /mnt/logs/$log.log.1
          echo "$log 3" >/mnt/logs/$log.log
        done
        chmod 600 /mnt/logs/plain.log.1
        gzip /mnt/logs/packed.log.1 /mnt/logs/policy.log.1
        chmod 600 /mnt/logs/packed.log.1.gz /mnt/logs/policy.log.1.gz
        chmod 744 /mnt/logs/sub
        chmod 711 /mnt/logs/linked
        mv /mnt/other/other.log /mnt/other/private
        echo excluded 2 >>/mnt/other/excluded.log
        mv /mnt/other/excluded.log /mnt/other/excluded.log.1
        chmod 600 /mnt/other/private /mnt/other/excluded.log.1
        tick rotated
        mv /mnt/logs/chain.log.1 /mnt/logs/chain.log.2
        mv /mnt/logs/chain.log /mnt/logs/chain.log.1
        gzip /mnt/logs/chain.log.2
        chmod 600 /mnt/logs/chain.log.2.gz
        echo chain 4 >/mnt/logs/chain.log
        tick compressed
        mv /mnt/logs/packed.log.1.gz /mnt/logs/packed.log.2.gz
        rm /mnt/logs/policy.log.1.gz
        for log in packed policy; do
          mv /mnt/logs/$log.log /mnt/logs/$log.log.1
          gzip /mnt/logs/$log.log.1
          chmod 600 /mnt/logs/$log.log.1.gz
          echo "$log 4" >/mnt/logs/$log.log
        done
        tick 'rotated again'
        tick unchanged
        chmod 644 /mnt/logs/*.log.* /mnt/other/excluded.log.1
        chmod 755 /mnt/logs/sub /mnt/logs/linked
        tick readable
        tick again
        for id in $(as daemon $T list --json | grep -o '"sessionId":"[^"]*"' | cut -d'"' -f4); do
          as daemon $T show --raw --remote $id | paste -sd ' '
        done | sort
        """)
      #expect(result.status == 0, "\(result.errors)")
      #expect(
        result.text == """
          -- first
          upload 0
          -- rotated
          tidemark: /mnt/logs/linked: cannot be opened: Permission denied
          tidemark: /mnt/logs/packed.log.1.gz: cannot be compared with what was sent: Permission denied
          tidemark: /mnt/logs/plain.log.1: cannot be compared with what was sent: Permission denied
          tidemark: /mnt/logs/policy.log.1.gz: cannot be compared with what was sent: Permission denied
          tidemark: /mnt/logs/sub: cannot be read: Permission denied
          tidemark: /mnt/other/excluded.log.1: cannot be compared with what was sent: Permission denied
          upload 1
          -- compressed
          tidemark: /mnt/logs/chain.log.2.gz: cannot be compared with what was sent: Permission denied
          upload 1
          -- rotated again
          tidemark: /mnt/logs/packed.log.2.gz: cannot be compared with what was sent: Permission denied
          upload 1
          -- unchanged
          upload 1
          -- readable
          upload 0
          -- again
          upload 0
          chain 1 chain 2
          chain 3
          chain 4
          excluded 1 excluded 2
          linked/linked 1 linked/linked 2
          linked/linked 3
          other 1  [GAP ? bytes: /mnt/other/other.log was removed after byte 8 was sent]
          packed 1 packed 2
          packed 3
          packed 4
          plain 1 plain 2
          plain 3
          policy 1  [GAP ? bytes: /mnt/logs/policy.log was replaced after byte 9 was sent]
          policy 3
          policy 4
          sub/named 1 sub/named 2
          sub/named 3

          """, "\(result.text)\(result.errors)")
    }

    /// An unreadable file is reported once and named in `status`; it ends no session and stops no
    /// other.
    ///
    /// Nor is it forgotten once its link is gone.
    @Test
    func `an unreadable or unmounted source is reported once and ends no session`() async throws {
      let result = try await Program().shellInMountNamespace(
        """
        umask 022
        export TIDEMARK_HOME=/mnt/home
        mkdir -m 777 /mnt/home /mnt/store
        mkdir -p /mnt/logs/sub /mnt/disk /mnt/.disk /mnt/links /mnt/pod
        mount -t tmpfs -o mode=755 tidemark-disk /mnt/.disk
        mount --bind /mnt/.disk /mnt/disk
        echo open 1 >/mnt/logs/open.log
        echo sub 1 >/mnt/logs/sub/sub.log
        echo disk 1 >/mnt/disk/disk.log
        echo secret 1 >/mnt/logs/secret.log
        echo linked 1 >/mnt/pod/linked.log
        touch -d '2 days ago' /mnt/pod/linked.log
        ln -s ../pod/linked.log /mnt/links
        chmod 600 /mnt/logs/secret.log
        as daemon $T init file:///mnt/store >&2
        sed -i '/^sources:/a\\  - path: /mnt/logs/**\\n  - path: /mnt/disk/*.log' /mnt/home/tidemark.yaml
        sed -i '/^sources:/a\\  - path: /mnt/links/*.log\\n    follow-links: true' /mnt/home/tidemark.yaml
        tick() { echo "-- $1"; as daemon $T upload 2>&1 && echo upload 0 || echo "upload $?"; }
        tick first
        tick again
        as daemon $T status >/mnt/status || echo "status $?"
        grep -o 'problem .*secret.log' /mnt/status
        grep -A1 '^not uploaded' /mnt/status | sed 's/ (.*//'
        chmod 700 /mnt/logs/sub
        umount /mnt/disk
        echo linked 2 >>/mnt/pod/linked.log
        chmod 600 /mnt/pod/linked.log
        rm /mnt/links/linked.log
        echo open 2 >>/mnt/logs/open.log
        tick gone
        tick again
        chmod 755 /mnt/logs/sub
        mount --bind /mnt/.disk /mnt/disk
        echo sub 2 >>/mnt/logs/sub/sub.log
        echo disk 2 >>/mnt/disk/disk.log
        chmod 644 /mnt/logs/secret.log /mnt/pod/linked.log
        tick back
        as daemon $T status | grep problem || echo no problem
        as daemon $T list --json | grep -c ACTIVE
        for id in $(as daemon $T list --json | grep -o '"sessionId":"[^"]*"' | cut -d'"' -f4); do
          as daemon $T show --raw --remote $id
        done | sort
        """)
      #expect(result.status == 0, "\(result.errors)")
      #expect(
        result.text == """
          -- first
          tidemark: /mnt/logs/secret.log: cannot be opened: Permission denied
          upload 1
          -- again
          upload 1
          status 1
          problem        /mnt/logs/secret.log
          not uploaded   9 B
            9 B in 1 session: cannot be read
          -- gone
          tidemark: /mnt/disk: its file system is not there; is it mounted?
          tidemark: /mnt/logs/sub: cannot be read: Permission denied
          tidemark: /mnt/pod/linked.log: cannot be opened: Permission denied
          upload 1
          -- again
          upload 1
          -- back
          upload 0
          no problem
          5
          disk 1
          disk 2
          linked 1
          linked 2
          open 1
          open 2
          secret 1
          sub 1
          sub 2

          """, "\(result.text)\(result.errors)")
    }
  #endif
}

import Foundation
import TestServers
import TestSupport
import Testing

@Suite(.tags(.large)) struct PackageTests {
  /// Either unit has the same permissions.
  @Test func `both systemd services have the same restrictions`() throws {
    func limits(_ name: String) throws -> Substring {
      let path = "\(Self.project)/conf/systemd/\(name)"
      let text = try String(contentsOfFile: path, encoding: .utf8)
      let start = try #require(text.range(of: "# The users' homes;")).lowerBound
      return text[start...].prefix { $0 != "[" }
    }
    let service = try limits("tidemark.service").split(separator: "\n")
    #expect(service.count > 25 && service.contains("NoNewPrivileges=yes"))
    #expect(try limits("tidemark-upload.service").split(separator: "\n") == service)
  }

  private static let project = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().path

  /// The archive of this build or, in the long campaign, of the release build.
  @Test func `the packaged archive works when unpacked`() async throws {
    let endpoint = try Endpoint(.directory)
    let program = try Program(endpoint)
    let isFull = ProcessInfo.processInfo.environment["TIDEMARK_TEST_FULL"] != nil
    let binary = isFull ? "" : "--binary \"$T\""
    let result = try await program.shell(
      """
      set -eu
      cd '\(program.folder.path)'
      export PATH='\(ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin")'
      unset LD_LIBRARY_PATH
      # How well an unoptimized program can be packed does not matter, and takes a minute.
      export DPKG_DEB_COMPRESSOR_TYPE=gzip DPKG_DEB_COMPRESSOR_LEVEL=1
      '\(Self.project)/Scripts/package' \(binary) packages >&2
      mkdir unpacked
      tar -C unpacked --strip-components=1 -xzf packages/tidemark-*.tar.gz
      cd unpacked
      bin/tidemark init '\(endpoint.url)' >&2
      bin/tidemark run --app packed -- echo hello
      bin/tidemark upload
      bin/tidemark list --remote
      ls conf/tidemark.yaml conf/man/tidemark.1 conf/completions/_tidemark conf/systemd/tidemark.service
      """)
    #expect(result.status == 0, "\(result.errors)")
    #expect(result.text.contains("hello\n") && result.text.contains("packed"))

    #if os(Linux)
      let apt = try await program.shell(
        "cd '\(program.folder.path)'; cat unpacked/REQUIRES; dpkg-deb --contents packages/*.deb")
      #expect(apt.status == 0, "\(apt.errors)")
      for library in ["libcurl4", "libsqlite3-0", "libzstd1"] {
        #expect(apt.text.contains("\(library)\n"), "\(apt.text)")
      }
      for file in ["/usr/bin/tidemark\n", "/man1/tidemark.1.gz\n", "/system/tidemark.service\n"] {
        #expect(apt.text.contains(file), "\(apt.text)")
      }
    #endif
  }

  #if os(Linux)
    @Test func `systemd units and the logrotate snippet are valid`() async throws {
      let program = try Program()
      let result = try await program.shell(
        """
        set -eu
        cd '\(program.folder.path)'
        export PATH=$PATH:/usr/sbin:/sbin
        cp -R '\(Self.project)/conf' .
        sed -i "s|/usr/bin/tidemark|$T|" conf/systemd/*
        systemd-analyze verify --man=no conf/systemd/*
        chmod 644 conf/logrotate/tidemark
        logrotate --debug --state state conf/logrotate/tidemark
        """)
      #expect(result.status == 0, "\(result.text)\(result.errors)")
      #expect(!result.errors.contains("error:"), "\(result.errors)")
    }
  #endif
}

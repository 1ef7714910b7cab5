import Foundation
import TestServers
import TestSupport
import Testing

/// The program ends with complete output and its own status, even while its threads work.
@Suite(.tags(.large)) struct ExitTests {
  /// Each command ends with open connections, which its worker threads close at that moment.
  @Test func `no command crashes on exit while its connections close`() async throws {
    let authority = try Authority()
    let server = try SpecialLighttpdServer(
      .tls(certificate: "good", wantsClient: false, newest: "TLSv1.3"), authority: authority)
    var program = try Program()
    program.environment["URL"] = server.url + "/logs"
    try FileManager.default.createDirectory(
      atPath: program.home, withIntermediateDirectories: true)
    try "ca-file: \(authority.path("ca.pem"))\n".write(
      toFile: program.home + "/tidemark.yaml", atomically: true, encoding: .utf8)
    let result = try await program.shell(
      """
      $T init "$URL" >&2
      for i in 1 2 3 4; do $T run --no-upload -- seq 2000 > "$FOLDER/expected"; done
      $T upload
      id=$(ls "$TIDEMARK_HOME"/sessions/* | sed -n 's/\\.json$//p' | head -1)
      for i in 1 2; do (while :; do :; done) & busy="$busy $!"; done
      for i in 1 2; do
        for command in "show $id --remote --plain" "show $id --remote -n 4" "list --remote" \\
          "grep 1999 --remote" "export $id --remote --output -" status
        do
          $T $command > "$FOLDER/out" || echo "$command: $?"
          case $command in *plain) cmp "$FOLDER/out" "$FOLDER/expected" ;; esac
        done
      done
      kill $busy
      """)
    #expect(result.status == 0, "\(result.errors)")
    #expect(result.text.isEmpty, "\(result.text)\(result.errors)")
  }

  #if os(Linux)
    /// The dynamic linker reports when it runs libraries' exit handlers (ld.so(8)).
    @Test(arguments: [
      (["--version"], 0), (["upload"], 78), (["run", "--", "true"], 0), (["list"], 0),
      (["show"], 64),
    ])
    func `no library exit handler runs`(arguments: [String], status: Int) async throws {
      var program = try Program()
      program.environment["LD_DEBUG"] = "files"
      let result = try await program.run(arguments)
      #expect(Int(result.status) == status)
      let own = result.errors.split(separator: "\n").first?.prefix { $0 != ":" } ?? "?"
      let said = result.errors.split(separator: "\n").filter { $0.hasPrefix(own) }
      #expect(said.contains { $0.contains("calling init") })
      #expect(!said.contains { $0.contains("calling fini") })
    }
  #endif

  /// Text printed by the parser is complete in a pipe, and goes to the right one.
  @Test(arguments: [
    (["--help"], 0), (["help", "show"], 0), (["--generate-completion-script", "bash"], 0),
    (["--version"], 0), (["show"], 64), (["show", "--lines", "x", "y"], 64), (["nonsense"], 64),
  ])
  func `the parser's output is complete and goes to the right stream`(
    arguments: [String], status: Int
  ) async throws {
    let result = try await Program().run(arguments)
    #expect(Int(result.status) == status)
    #expect(result.output.isEmpty == (status != 0))
    #expect(result.errors.isEmpty == (status == 0))
    #expect(result.output.last ?? 0x0a == 0x0a)
  }
}

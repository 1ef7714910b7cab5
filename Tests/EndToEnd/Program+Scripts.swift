import Foundation
import TestServers
import TestSupport
import Testing

/// Runs the scripts for machines without the program.
extension Program {
  /// Where the scripts are; this file is `<package>/Tests/EndToEnd/Program+Scripts.swift`.
  static let scripts = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().appending(path: "Scripts").path

  /// A time at which everything is old, for both clocks.
  static let lateClock = "Tue, 02 Oct 2096 07:06:40 GMT"

  /// Makes a program in whose shell `$S` has the scripts, with a `curl` that records its arguments.
  ///
  /// `$CLOCK` sets the clocks of this machine and of the server; `$BEFORE_SECOND_SEGMENT` runs
  /// before the second segment is requested.
  init(scriptsFor endpoint: Endpoint) throws {
    try self.init(endpoint)
    environment["S"] = Self.scripts
    environment["TIDEMARK_STORE"] = endpoint.url
    environment["PATH"] = folder.path + "/bin:/usr/bin:/bin:/opt/homebrew/bin"
    let stubs = [
      "curl": """
      #!/bin/sh
      PATH=${PATH#*:}
      configuration=$(cat)
      printf '%s\\n' "$@" >>"$HOME/arguments"
      for argument in "$@"; do
        if [ "$previous" = --dump-header ]; then head=$argument; fi
        previous=$argument
      done
      case $configuration in
        *.zst*)
          echo >>"$HOME/segments"
          if [ -n "$BEFORE_SECOND_SEGMENT" ] && [ $(wc -l <"$HOME/segments") = 2 ]; then
            . "$BEFORE_SECOND_SEGMENT"
          fi
          ;;
      esac
      printf '%s\\n' "$configuration" | curl "$@" || exit
      if [ -n "$CLOCK" ] && [ -n "$head" ]; then printf 'Date: %s\\r\\n' "$CLOCK" >>"$head"; fi
      """,
      "date": """
      #!/bin/sh
      PATH=${PATH#*:}
      if [ -n "$CLOCK" ]; then echo 4000000000; else date "$@"; fi
      """,
    ]
    for (name, text) in stubs { try folder.write(text + "\n", to: "stubs/\(name)") }
  }

  /// Runs a shell script in the program's folder.
  func script(_ text: String) async throws -> Command.Result {
    // Copy in another process: a file just written by this one may still be open in a child of
    // another test, and then it cannot be executed.
    try await shell(
      """
      cd "$HOME"
      if [ -d stubs ] && [ ! -d bin ]; then cp -r stubs bin && chmod +x bin/*; fi
      \(text)
      """)
  }

  /// Expects no secret in the arguments of the scripts' processes.
  func expectNoSecretInArguments(_ endpoint: Endpoint) throws {
    guard !endpoint.environment.isEmpty else { return }
    let file = folder.path + "/arguments"
    let arguments = try String(contentsOfFile: file, encoding: .utf8)
    #expect(arguments.contains("--config\n-\n"))
    for secret in [RcloneS3Server.secretAccessKey, "mark%2Fsecret", ":\(ServerLogin.password)"] {
      #expect(!arguments.contains(secret))
    }
    #expect(!arguments.split(separator: "\n").contains(ServerLogin.password[...]))
  }
}

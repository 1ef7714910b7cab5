import Foundation
import TestSupport
import Testing

/// Shell completion by the installed file.
@Suite(.tags(.medium)) struct CompletionTests {
  private static let file = URL(filePath: Program.scripts).deletingLastPathComponent()
    .appending(path: "conf/completions/tidemark.bash").path

  @Test func `bash completes session ids, levels, formats, commands and files`() async throws {
    let program = try Program()
    try await program.run("log", "--no-upload", input: Array("x\n".utf8))
    let id = try #require(try await program.list("--local").first?["sessionId"] as? String)
    let result = try await program.shell(
      """
      mkdir "$HOME/bin" && ln -s "$T" "$HOME/bin/tidemark" && cd "$HOME"
      touch some.yaml 'fo$(touch ran)' 'fo`touch ran`'
      exec bash -c '
      PATH=$HOME/bin:$PATH
      . "\(Self.file)"
      complete_words() {
        COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMP_LINE="$*" COMP_POINT=${#COMP_LINE} COMPREPLY=()
        _tidemark tidemark "${@: -1}" "${@: -2:1}"
        echo "${COMPREPLY[*]}"
      }
      complete_words tidemark sho
      complete_words tidemark show \(id.prefix(20))
      complete_words tidemark show --level ER
      complete_words tidemark export --format ""
      complete_words tidemark run -- /bin/echo so
      complete_words tidemark run -- mkfif
      complete_words tidemark config check --file so
      complete_words tidemark run -- /bin/echo fo
      ls ran 2>/dev/null
      '
      """)
    #expect(
      result.text == """
        show
        \(id)
        ERROR
        text jsonl tar asciicast
        some.yaml
        mkfifo
        some.yaml


        """, "\(result.errors)")
  }
}

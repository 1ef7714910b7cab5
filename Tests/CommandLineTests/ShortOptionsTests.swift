import ArgumentParser
import TestSupport
import Testing

@testable import tidemark

@Suite(.tags(.small)) struct ShortOptionsTests {
  @Test(arguments: [
    ("tail -20", "tail -n 20"), ("tail -n20 x", "tail -n 20 x"), ("tail -fn5", "tail -f -n 5"),
    ("grep -iC2 x", "grep -i -C 2 x"), ("grep -m1 x", "grep -m 1 x"), ("grep -2 x", "grep -C 2 x"),
    ("grep -e -5 y", "grep -e -5 y"), ("grep -ne x", "grep -n -e x"),
    ("grep -- -i2", "grep -- -i2"),
    ("grep -n=3", "grep -n=3"), ("grep -A=3 x", "grep -A 3 x"), ("list -n 3", "list -n 3"),
    ("show -xy", "show -xy"), ("list --since -2h", "list --since -2h"),
    ("run -n5 -- ls -la", "run -n5 -- ls -la"), ("log info -20", "log info -20"),
    ("frob -20", "frob -20"), ("grep - x", "grep - x"),
  ])
  func `combined short options expand as in getopt`(given: String, expanded: String) {
    let words = given.split(separator: " ").map(String.init)
    #expect(ShortOptions.expanded(words).joined(separator: " ") == expanded)
  }

  /// The table of short options agrees with the commands themselves.
  @Test func `each command accepts the short options known for it`() throws {
    for (command, words) in [
      ("grep", "grep -E -F -i -v -c -l -n -o -q -A 1 -B 1 -C 1 -m 1 x"),
      ("tail", "tail -f -n 1 -v"),
      ("list", "list -n 1 -v"), ("show", "show -n 1 -v x"), ("delete", "delete -y -v x"),
      ("reap", "reap -y -v"), ("play", "play -i 1s -v x"), ("export", "export -n 1 -o x -v y"),
    ] {
      let words = words.split(separator: " ").map(String.init)
      #expect(ShortOptions.expanded(words) == words, "\(command)")
      if command != "grep" { _ = try Tidemark.parseAsRoot(words) }
    }
  }

  @Test(arguments: [
    ("lst", "list"), ("tial", "tail"), ("uplaod", "upload"), ("stauts", "status"), ("frob", nil),
    ("xx", nil), ("remove", nil),
  ])
  func `a misspelled command suggests the nearest one`(word: String, meant: String?) {
    let known = Tidemark.configuration.subcommands.compactMap { $0.configuration.commandName }
    #expect(Suggestion.nearest(to: word, among: known) == meant)
  }
}

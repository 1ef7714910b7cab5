/// Rewrites short options as `getopt` takes them into those that the parser takes: `-n20` as `-n 20`,
/// `-iC2` as `-i -C 2`, `tail -20` as `tail -n 20`.
enum ShortOptions {
  /// The short options of a command, as `getopt` is told them: a colon follows those with a value.
  private static let letters = [
    "list": "n:vh", "show": "n:vh", "tail": "n:fvh", "grep": "EFivclnoqA:B:C:m:e:h",
    "export": "n:o:vh", "play": "i:vh", "delete": "yvh", "reap": "yvh",
  ]

  /// What a number alone means, as in `tail -20` and `grep -2`.
  private static let ofNumber = ["list": "n", "show": "n", "tail": "n", "export": "n", "grep": "C"]

  /// Rewrites the arguments that follow the program's name.
  ///
  /// What is unknown stays as it is, for the parser to refuse. Of `run` and `log` nothing is touched:
  /// most of their words are another program's, or text.
  static func expanded(_ arguments: [String]) -> [String] {
    guard let command = arguments.first, let letters = letters[command] else { return arguments }
    var result = [command]
    var rest = arguments.dropFirst()
    while let argument = rest.popFirst() {
      if argument == "--" { return result + ["--"] + rest }
      let word = argument.dropFirst()
      guard argument.hasPrefix("-"), !word.isEmpty, !word.hasPrefix("-") else {
        result.append(argument)
        continue
      }
      if let letter = ofNumber[command], word.allSatisfy({ $0.isASCII && $0.isNumber }) {
        result += ["-\(letter)", String(word)]
      } else if let (words, lacksValue) = split(word, letters) {
        result += words
        if lacksValue, let value = rest.popFirst() { result.append(value) }
      } else {
        result.append(argument)
      }
    }
    return result
  }

  /// The options of one word, and whether the last one's value is the next word; nil where one of
  /// them is unknown.
  private static func split(
    _ word: Substring, _ letters: String
  ) -> (words: [String], lacksValue: Bool)? {
    var words: [String] = []
    var rest = word
    while let letter = rest.popFirst() {
      guard letter != ":", let place = letters.firstIndex(of: letter) else { return nil }
      words.append("-\(letter)")
      let next = letters.index(after: place)
      guard next < letters.endIndex, letters[next] == ":" else { continue }
      guard !rest.isEmpty else { return (words, true) }
      // As in `-n=20`, which the parser takes.
      words.append(String(rest.first == "=" ? rest.dropFirst() : rest))
      return (words, false)
    }
    return (words, false)
  }
}

/// Rewrites short options in `getopt` style into the parser's form: `-n20` as `-n 20`, `-iC2` as
/// `-i -C 2`, `tail -20` as `tail -n 20`.
enum ShortOptions {
  /// The short options of each command, in `getopt` notation: a colon follows those with a value.
  private static let letters = [
    "list": "n:vh", "show": "n:vh", "tail": "n:fvh", "grep": "EFivclnoqA:B:C:m:e:h",
    "export": "n:o:vh", "play": "i:vh", "delete": "yvh", "reap": "yvh",
  ]

  /// The option that a bare number sets, as in `tail -20` and `grep -2`.
  private static let ofNumber = ["list": "n", "show": "n", "tail": "n", "export": "n", "grep": "C"]

  /// Rewrites the arguments that follow the program's name.
  ///
  /// Unknown options stay as they are, for the parser to reject. Arguments of `run` and `log` are
  /// not rewritten: most of them are another program's, or text.
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

  /// The options in one word, and whether the next word is the last one's value; nil if one of them
  /// is unknown.
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
      // As in `-n=20`, which the parser accepts.
      words.append(String(rest.first == "=" ? rest.dropFirst() : rest))
      return (words, false)
    }
    return (words, false)
  }
}

/// A `.netrc` file: logins by machine, in the format introduced by `ftp`.
enum Netrc {
  /// The login for a host, and for this user if one is given; nil if there is none.
  ///
  /// The first match counts; `default` matches every host. Macros are skipped.
  static func login(in text: String, host: String, user: String?) -> (
    user: String, password: String
  )? {
    struct Entry {
      var host: String?
      var login: String?
      var password: String?
    }
    var entries: [Entry] = []
    var words = allWords(of: text).makeIterator()
    while let word = words.next() {
      switch word {
      case "machine": entries.append(Entry(host: words.next()))
      case "default": entries.append(Entry())
      case "login" where !entries.isEmpty: entries[entries.count - 1].login = words.next()
      case "password" where !entries.isEmpty: entries[entries.count - 1].password = words.next()
      case "account": _ = words.next()
      default: break
      }
    }
    for entry in entries where entry.host == nil || entry.host?.lowercased() == host.lowercased() {
      guard let login = entry.login, let password = entry.password, user == nil || user == login
      else { continue }
      return (login, password)
    }
    return nil
  }

  /// The words, without quotes, comments and macros.
  private static func allWords(of text: String) -> [String] {
    var words: [String] = []
    var isMacro = false
    for line in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline) {
      // A macro ends with an empty line.
      if isMacro {
        isMacro = !line.allSatisfy(\.isWhitespace)
        continue
      }
      let found = lineWords(line)
      if let start = found.firstIndex(of: "macdef") {
        words += found[..<start]
        isMacro = true
      } else {
        words += found
      }
    }
    return words
  }

  private static func lineWords(_ line: Substring) -> [String] {
    var words: [String] = []
    var rest = line.drop(while: \.isWhitespace)
    while let first = rest.first, first != "#" {
      var word = ""
      if first == "\"" {
        rest = rest.dropFirst()
        while let character = rest.popFirst(), character != "\"" {
          word.append(character == "\\" ? rest.popFirst() ?? character : character)
        }
      } else {
        word = String(rest.prefix { !$0.isWhitespace })
        rest = rest.dropFirst(word.count)
      }
      words.append(word)
      rest = rest.drop(while: \.isWhitespace)
    }
    return words
  }
}

import HTTPTransport

/// One way to log in that a server offers: a challenge of `WWW-Authenticate` (RFC 9110, 11.6.1).
struct AuthChallenge: Equatable {
  /// The scheme in lower case, such as `digest`.
  var scheme: String
  /// The parameters without control characters, with names in lower case; the first one of
  /// duplicates.
  var parameters: [String: String] = [:]

  /// The challenges of an answer, in one header field or several, in order.
  static func all(in response: HTTPResponse) -> [AuthChallenge] {
    response.headers.filter { $0.name.lowercased() == "www-authenticate" }
      .flatMap { parse($0.value) }
  }

  /// The challenges of one header field; nonsense is skipped.
  static func parse(_ value: String) -> [AuthChallenge] {
    var challenges: [AuthChallenge] = []
    var scanner = Scanner(value)
    while let item = scanner.next() {
      switch item {
      case .word(let word): challenges.append(AuthChallenge(scheme: word.lowercased()))
      case .pair(let name, let value):
        guard let last = challenges.indices.last else { continue }
        if challenges[last].parameters[name] == nil { challenges[last].parameters[name] = value }
      }
    }
    return challenges
  }

  /// The `name=value` pairs of a header field without a scheme, such as `Authentication-Info`.
  static func parameters(_ value: String) -> [String: String] {
    var scanner = Scanner(value)
    var result: [String: String] = [:]
    while let item = scanner.next() {
      if case .pair(let name, let value) = item, result[name] == nil { result[name] = value }
    }
    return result
  }

  /// Words and `name=value` pairs, with commas and white space between.
  private struct Scanner {
    enum Item {
      case word(String)
      case pair(String, String)
    }

    /// Maximum number of bytes that are examined: no server's challenges are that long.
    private static let longest = 16384

    private let text: [Character]
    private var position = 0

    init(_ value: String) {
      text = Array(String(decoding: value.utf8.prefix(Self.longest), as: UTF8.self))
    }

    mutating func next() -> Item? {
      while true {
        while position < text.count, text[position].isWhitespace || text[position] == "," {
          position += 1
        }
        guard position < text.count else { return nil }
        let name = word(upTo: ["=", ",", "\""])
        skipSpaces()
        if position < text.count, text[position] == "=" {
          position += 1
          skipSpaces()
          let value = quoted() ?? word(upTo: [","])
          // A login repeats it, and no header field can hold a control character.
          if value.utf8.contains(where: { $0 < 0x20 || $0 == 0x7f }) { continue }
          return .pair(name.lowercased(), value)
        }
        guard name.isEmpty else { return .word(name) }
        // Skip a stray quote, which nothing else would consume.
        position += 1
      }
    }

    private mutating func skipSpaces() {
      while position < text.count, text[position].isWhitespace { position += 1 }
    }

    private mutating func word(upTo ends: Set<Character>) -> String {
      let start = position
      while position < text.count, !text[position].isWhitespace, !ends.contains(text[position]) {
        position += 1
      }
      return String(text[start..<position])
    }

    /// The content of a quoted string, with escapes resolved; nil if there is none here.
    private mutating func quoted() -> String? {
      guard position < text.count, text[position] == "\"" else { return nil }
      position += 1
      var result = ""
      while position < text.count, text[position] != "\"" {
        if text[position] == "\\", position + 1 < text.count { position += 1 }
        result.append(text[position])
        position += 1
      }
      position += 1
      return result
    }
  }
}

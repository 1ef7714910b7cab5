import Foundation

/// Masks secrets in lines about requests: by the names of header fields and parameters, by their
/// position in a URL, and finally all known secrets.
///
/// If in doubt, it masks too much rather than too little.
package struct SecretMask: Sendable {
  /// The replacement of a secret.
  package static let replacement = "***"
  /// Minimum length of a known secret: shorter ones would match within ordinary words.
  private static let shortest = 6

  private let known: [SpelledText]

  /// Makes a mask.
  ///
  /// - Parameter known: Secrets to mask everywhere, such as passwords.
  package init(known: some Sequence<String> = []) {
    let forms = Set(known).filter { $0.utf8.count >= Self.shortest }.flatMap(Self.forms)
    guard !forms.isEmpty else {
      self.known = []
      return
    }
    // Equal strings may have different bytes.
    self.known = Array(Set(forms.map(SpelledText.init)))
  }

  /// Masks text that may contain URLs and `name=value` parameters.
  package func mask(_ text: String) -> String {
    // First what is known: the rules below would mask a part of a secret with a "=", and leave the
    // rest.
    Self.maskParameters(Self.maskLogin(maskKnown(text)))
  }

  /// Bytes of a server's text that are looked at: several times what is shown of it.
  package static let longestHead = 4096

  /// Masks the beginning of a text of any length, such as a server's, and leaves out the rest.
  package func maskHead(of text: String) -> String {
    let bytes = text.utf8
    let rest = bytes.dropFirst(Self.longestHead)
    guard !rest.isEmpty else { return mask(text) }
    return maskCut(
      String(decoding: bytes.prefix(Self.longestHead), as: UTF8.self),
      hidesLogin: rest.contains(UInt8(ascii: "@")))
  }

  /// Masks a text whose end is missing, and what may be the beginning of a secret there.
  ///
  /// - Parameter hidesLogin: whether what is missing may contain the end of a login.
  private func maskCut(_ text: String, hidesLogin: Bool = true) -> String {
    Self.maskParameters(Self.maskLogin(maskKnown(text, isCut: true), isOpen: hidesLogin))
  }

  /// Masks a message of libcurl, which may repeat the proxy's URL with its login, even without
  /// scheme.
  ///
  /// - Parameter isCut: whether its end is missing.
  package func maskNote(_ text: String, isCut: Bool = false) -> String {
    guard !isCut else { return maskCut(text) }
    let scalars = text.unicodeScalars
    guard let at = scalars.lastIndex(of: "@") else { return mask(text) }
    let start = scalars[..<at].firstIndex { $0 == "'" || $0 == "\"" }
    let from = start.map(scalars.index(after:)) ?? scalars.startIndex
    return mask(String(scalars[..<from]) + Self.replacement + String(scalars[at...]))
  }

  /// Masks a header line without its newline.
  ///
  /// - Parameter isCut: whether its end is missing.
  /// - Returns: The line, and whether its whole value was masked.
  package func maskHeader(_ line: String, isCut: Bool = false) -> (text: String, isMasked: Bool) {
    guard let colon = line.firstIndex(of: ":"), Self.isSecret(String(line[..<colon])) else {
      return (isCut ? maskCut(line) : mask(line), false)
    }
    let value = line[line.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
    let scheme = Self.schemes.first { value.lowercased().hasPrefix($0.lowercased() + " ") }
    let shown = scheme.map { $0 + " " } ?? ""
    return ("\(line[..<colon]): \(shown)\(Self.replacement)", true)
  }

  /// The secret values among a request's header fields, and the passwords in them.
  package static func secrets(in headers: [(name: String, value: String)]) -> [String] {
    headers.filter { isSecret($0.name) }.flatMap { header -> [String] in
      let words = header.value.split(separator: " ").map(String.init)
      guard words.count == 2, words[0].lowercased() == "basic",
        let login = Data(base64Encoded: words[1])
      else { return [header.value] + words.dropFirst() + words.compactMap(secretValue) }
      let text = String(decoding: login, as: UTF8.self)
      let password = text.firstIndex(of: ":").map { String(text[text.index(after: $0)...]) }
      return [words[1], text] + [password].compactMap(\.self)
    }
  }

  /// The value in one `name=value` of a login if the name denotes a secret, as of a signature.
  private static func secretValue(_ parameter: String) -> String? {
    guard let equals = parameter.firstIndex(of: "="), isSecret(String(parameter[..<equals])) else {
      return nil
    }
    return parameter[parameter.index(after: equals)...]
      .trimmingCharacters(in: CharacterSet(charactersIn: ",\""))
  }

  /// All of a request that may be secret: what follows the host in its URL, and the values of its
  /// header fields.
  package static func secrets(of request: HTTPRequest) -> [String] {
    let url = request.url
    let host = url.range(of: "://").map { url[$0.upperBound...] } ?? url[...]
    let target = host.firstIndex(of: "/").map { String(host[$0...]) }
    let values = request.headers.filter { !usual.contains($0.name.lowercased()) }.map(\.value)
    return secrets(in: request.headers) + values + [target].compactMap(\.self)
  }

  /// Header fields whose values are not secret.
  private static let usual: Set = ["accept", "content-length", "content-type", "user-agent"]

  /// The login in a URL, as written and decoded.
  package static func secrets(inURL url: String) -> [String] {
    guard let at = url.lastIndex(of: "@") else { return [] }
    let login = url[..<at].range(of: "://").map { url[$0.upperBound..<at] } ?? url[..<at]
    let password = login.firstIndex(of: ":").map { login[login.index(after: $0)...] }
    return [login, password].compactMap(\.self).flatMap { part in
      [String(part), part.removingPercentEncoding ?? String(part)]
    }
  }

  // MARK: Names

  /// Authentication schemes that stay visible, to show how a login was made.
  private static let schemes = ["Basic", "Bearer", "Digest", "Negotiate", "AWS4-HMAC-SHA256"]

  /// Parts of the names of header fields and parameters with secrets.
  private static let parts = [
    "authoriz", "authentication-info", "cookie", "token", "secret", "signature", "credential",
    "password", "passwd", "accesskey", "access-key", "customer-key",
  ]
  /// Whole names of header fields and parameters with secrets.
  private static let names: Set<String> = ["auth", "sig", "pwd", "pass", "response", "rspauth"]

  private static func isSecret(_ name: String) -> Bool {
    let name = name.lowercased()
    return names.contains(name) || name.hasSuffix("key") || parts.contains(where: name.contains)
  }

  // MARK: Parts of a text

  // By scalars: a combining character would make another character of the delimiter before it.

  /// Masks `user:password` in URLs: an unencoded password may contain nearly anything.
  ///
  /// - Parameter isOpen: whether a password may continue after the text.
  private static func maskLogin(_ text: String, isOpen: Bool = false) -> String {
    let scalars = text.unicodeScalars
    guard let at = isOpen ? scalars.endIndex : scalars.lastIndex(of: "@"),
      let scheme = scalars[..<at].firstRange(of: "://".unicodeScalars)
    else { return text }
    return String(scalars[..<scheme.upperBound]) + replacement + String(scalars[at...])
  }

  /// Masks the values of `name=value` and `name="value"` if the name denotes a secret.
  private static func maskParameters(_ text: String) -> String {
    var result = ""
    var rest = text.unicodeScalars[...]
    while let equals = rest.firstIndex(of: "=") {
      let head = rest[..<equals]
      let start = head.lastIndex { !isPartOfName($0) }.map(head.index(after:))
      let name = String(head[(start ?? head.startIndex)...])
      result += String(rest[...equals])
      rest = rest[rest.index(after: equals)...]
      guard isSecret(name) else { continue }
      if rest.first == "\"" {
        rest = rest.dropFirst()
        let end = rest.firstIndex(of: "\"") ?? rest.endIndex
        rest = rest[end...].dropFirst()
      } else {
        rest = rest.drop { !isEndOfValue($0) }
      }
      result += replacement
    }
    return result + String(rest)
  }

  private static func isPartOfName(_ scalar: Unicode.Scalar) -> Bool {
    scalar.properties.isAlphabetic || scalar.properties.numericType != nil
      || "-_.%".unicodeScalars.contains(scalar)
  }

  private static func isEndOfValue(_ scalar: Unicode.Scalar) -> Bool {
    scalar.properties.isWhitespace || "&,;\"'<>".unicodeScalars.contains(scalar)
  }

  // MARK: Known secrets

  /// A secret as it may occur in a text: as it is, in hexadecimal digits or in base64.
  private static func forms(of secret: String) -> [String] {
    let composed = [
      secret, secret.precomposedStringWithCanonicalMapping,
      secret.decomposedStringWithCanonicalMapping,
    ]
    return composed + hexForms(of: secret) + base64Forms(of: secret)
  }

  private static func hexForms(of secret: String) -> [String] {
    ["%02x", "%02X"].map { format in
      secret.utf8.map { String(format: format, $0) }.joined()
    }
  }

  /// A secret in base64, alone and as the part of any longer text in base64.
  private static func base64Forms(of secret: String) -> [String] {
    let alone = Data(secret.utf8).base64EncodedString()
    let parts = (0..<3).map { before in
      let text = Data(repeating: 0, count: before) + Data(secret.utf8)
      // The first and the last digit may hold bits of the neighbours, too.
      let digits = text.base64EncodedString().prefix(text.count * 8 / 6)
      return String(digits.dropFirst((before * 8 + 5) / 6))
    }
    let all = [alone] + parts.filter { $0.utf8.count >= shortest }
    return all + all.map { $0.replacing("+", with: "-").replacing("/", with: "_") }
  }

  /// Masks the known secrets alone, in a text of our own with values from elsewhere.
  ///
  /// Compares bytes: characters may merge with what follows them.
  package func maskKnown(_ text: String) -> String { maskKnown(text, isCut: false) }

  /// - Parameter isCut: whether the text continues: its last characters are masked, too, and the
  ///   secrets that may continue there.
  private func maskKnown(_ text: String, isCut: Bool) -> String {
    let bytes = Array(text.utf8)
    var found = RangeSet(known.flatMap { $0.ranges(in: bytes, isCut: isCut) })
    if isCut {
      found.insert(contentsOf: max(0, bytes.count - SpelledText.longestCharacter)..<bytes.count)
    }
    guard !found.isEmpty else { return text }
    var result: [UInt8] = []
    var end = 0
    for range in found.ranges {
      result += bytes[end..<range.lowerBound] + Self.replacement.utf8
      end = range.upperBound
    }
    return String(decoding: result + bytes[end...], as: UTF8.self)
  }
}

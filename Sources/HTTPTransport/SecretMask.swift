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

  private let known: [String]

  /// Makes a mask.
  ///
  /// - Parameter known: Secrets to mask everywhere, such as passwords.
  package init(known: some Sequence<String> = []) {
    // Longest first: a shorter one may be a part of it.
    self.known = Set(known).filter { $0.utf8.count >= Self.shortest }
      .reduce(into: Set<String>()) { $0.formUnion(Self.forms(of: $1)) }
      .sorted { ($0.utf8.count, $0) > ($1.utf8.count, $1) }
  }

  /// Masks text that may contain URLs and `name=value` parameters.
  package func mask(_ text: String) -> String {
    // First what is known: the rules below would mask a part of a secret with a "=", and leave the
    // rest.
    Self.maskParameters(Self.maskLogin(maskKnown(text)))
  }

  /// Masks a message of libcurl, which may repeat the proxy's URL with its login, even without
  /// scheme.
  package func maskNote(_ text: String) -> String {
    guard let at = text.lastIndex(of: "@") else { return mask(text) }
    let start = text[..<at].firstIndex { $0 == "'" || $0 == "\"" }
    let from = start.map(text.index(after:)) ?? text.startIndex
    return mask(text[..<from] + Self.replacement + text[at...])
  }

  /// Masks a header line without its newline.
  ///
  /// - Returns: The line, and whether its whole value was masked.
  package func maskHeader(_ line: String) -> (text: String, isMasked: Bool) {
    guard let colon = line.firstIndex(of: ":"), Self.isSecret(String(line[..<colon])) else {
      return (mask(line), false)
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

  /// Masks `user:password` in URLs: an unencoded password may contain nearly anything.
  private static func maskLogin(_ text: String) -> String {
    guard let at = text.lastIndex(of: "@"), let scheme = text[..<at].range(of: "://") else {
      return text
    }
    return text[..<scheme.upperBound] + replacement + text[at...]
  }

  /// Masks the values of `name=value` and `name="value"` if the name denotes a secret.
  private static func maskParameters(_ text: String) -> String {
    guard text.contains("=") else { return text }
    var result = ""
    var rest = text[...]
    while let equals = rest.firstIndex(of: "=") {
      let head = rest[..<equals]
      let name = String(head.reversed().prefix { isPartOfName($0) }.reversed())
      result += rest[...equals]
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
    return result + rest
  }

  private static func isPartOfName(_ character: Character) -> Bool {
    character.isLetter || character.isNumber || "-_.%".contains(character)
  }

  private static func isEndOfValue(_ character: Character) -> Bool {
    character.isWhitespace || "&,;\"'<>".contains(character)
  }

  /// A secret as it may occur in a text: as it is, and encoded for a URL or for XML.
  private static func forms(of secret: String) -> [String] {
    let unreserved = CharacterSet(
      charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
    let encoded = [unreserved, unreserved.union(["/"])].compactMap {
      secret.addingPercentEncoding(withAllowedCharacters: $0)
    }
    let hexLowered = encoded.map { $0.replacing(#/%[0-9A-F]{2}/#) { $0.output.lowercased() } }
    let escaped = [("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ("\"", "&quot;"), ("'", "&apos;")]
      .reduce(secret) { $0.replacing($1.0, with: $1.1) }
    return [secret, escaped] + encoded + hexLowered
  }

  private func maskKnown(_ text: String) -> String {
    known.reduce(text) { $0.replacing($1, with: Self.replacement) }
  }
}

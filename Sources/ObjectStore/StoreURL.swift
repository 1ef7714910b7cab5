import Foundation

/// The URL of a store as the user writes it: `s3://`, `https://`, loopback `http://` or `file://`.
package struct StoreURL: Sendable, Hashable, CustomStringConvertible {
  /// The kinds of store.
  package enum Kind: Sendable, Hashable {
    /// A bucket, or the ARN of an access point, and the prefix below it, without slashes at its
    /// ends (may be empty).
    case s3(bucket: String, prefix: String)
    /// The URL of a WebDAV folder, percent-encoded, without a slash at its end.
    case webdav(url: String)
    /// The absolute path of a folder on this machine.
    case directory(path: String)
  }

  /// The kind of store.
  package let kind: Kind

  /// The URL in its canonical form, without a slash at the end.
  package let description: String

  static let acceptedForms =
    "Write s3://bucket/prefix, https://host/folder, http://localhost/folder or file:///folder."

  /// Parses a store URL.
  ///
  /// Throws `StoreError` with `configuration` if the text has none of the accepted forms, contains
  /// a user name or password, or names plain `http` on another machine.
  ///
  /// - Parameter allowsPlaintext: Whether plain `http` to another machine is accepted.
  package init(_ text: String, allowsPlaintext: Bool = false) throws {
    try self.init(text, allowsPlaintext: allowsPlaintext, isEndpoint: false)
  }

  /// Parses a store URL, or the endpoint of an S3 service.
  init(_ text: String, allowsPlaintext: Bool, isEndpoint: Bool) throws {
    guard let colon = text.range(of: "://") else {
      throw Self.refused(text, "not a store URL")
    }
    let scheme = text[..<colon.lowerBound].lowercased()
    let rest = text[colon.upperBound...]
    let hasNoSpace = rest.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F }
    guard text.utf8.count <= 2048, hasNoSpace || scheme == "file" else {
      throw Self.refused(text, "the URL is too long or holds white space")
    }
    let slash = rest.firstIndex(of: "/") ?? rest.endIndex
    let authority = String(rest[..<slash])
    let path = String(rest[slash...])
    if scheme != "file", rest.contains(where: { $0 == "?" || $0 == "#" }) {
      throw Self.refused(
        text, "a store URL has no ? or # part",
        advice: WebPageHint.advice(for: text) ?? Self.acceptedForms)
    }
    switch scheme {
    case "s3": (kind, description) = try Self.s3(text, authority, path)
    case "https", "http":
      if !isEndpoint { try Self.refuseBucketURL(text, authority, path) }
      (kind, description) = try Self.webdav(
        text, scheme, authority, path, allowsPlaintext: allowsPlaintext)
    case "file": (kind, description) = try Self.directory(text, authority, path)
    default: throw Self.refused(text, "unknown scheme \(scheme)://")
    }
  }

  static func refused(_ text: String, _ why: String, advice: String = acceptedForms) -> StoreError {
    StoreError(
      .configuration, operation: "open", target: withoutSecrets(text), response: why, advice: advice
    )
  }

  /// A URL, valid or not, without what may be a login: everything before the last `@`, and after a
  /// `?` or `#`.
  package static func withoutSecrets(_ text: String) -> String {
    // A password may contain a question mark, so remove it first.
    let text = withoutUser(text)
    guard let end = text.firstIndex(where: { $0 == "?" || $0 == "#" }) else { return text }
    return text[...end] + "…"
  }

  private static func withoutUser(_ text: String) -> String {
    guard let colon = text.range(of: "://") else {
      return text.contains("@") ? "(not shown, it may hold a password)" : text
    }
    // A password may contain a slash, so search the whole rest, not the authority alone.
    guard let at = text[colon.upperBound...].lastIndex(of: "@") else { return text }
    return String(text[..<colon.upperBound] + text[text.index(after: at)...])
  }
}

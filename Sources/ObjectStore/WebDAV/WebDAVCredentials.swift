/// Credentials for a WebDAV server; neither `description` nor reflection reveals them.
package enum WebDAVCredentials: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
  /// User and password, for basic and digest authentication.
  case password(user: String, password: String)
  /// A token, for bearer authentication.
  case token(String)

  /// A fixed text, which reveals no password.
  package var description: String { "WebDAVCredentials(…)" }
  /// An empty mirror, which reveals no password.
  package var customMirror: Mirror { Mirror(self, children: [:]) }
}

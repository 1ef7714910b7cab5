/// What a WebDAV server is shown; prints and mirrors nothing.
package enum WebDAVCredentials: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
  /// User and password, for basic and digest authentication.
  case password(user: String, password: String)
  /// A token, for bearer authentication.
  case token(String)

  /// A fixed text: the password stays out of messages.
  package var description: String { "WebDAVCredentials(…)" }
  /// Nothing: the password stays out of messages.
  package var customMirror: Mirror { Mirror(self, children: [:]) }
}

package import Platform

/// An access key.
///
/// Neither `description` nor reflection reveals it.
package struct S3Credentials: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
  /// The key's id.
  package let accessKeyID: String
  /// The key's secret.
  package let secretAccessKey: String
  /// The token of temporary credentials.
  package let sessionToken: String?
  /// When temporary credentials expire, by the service's clock; nil if unknown.
  package let expiration: ServerTime?

  /// Makes credentials.
  package init(
    accessKeyID: String, secretAccessKey: String, sessionToken: String? = nil,
    expiration: ServerTime? = nil
  ) {
    self.accessKeyID = accessKeyID
    self.secretAccessKey = secretAccessKey
    self.sessionToken = sessionToken
    self.expiration = expiration
  }

  /// A fixed text, which reveals no secret.
  package var description: String { "S3Credentials(…)" }
  /// An empty mirror, which reveals no secret.
  package var customMirror: Mirror { Mirror(self, children: [:]) }

  /// Whether both sign requests identically.
  func signsLike(_ other: S3Credentials) -> Bool {
    accessKeyID == other.accessKeyID && secretAccessKey == other.secretAccessKey
      && sessionToken == other.sessionToken
  }
}

extension [String: String] {
  /// The value of a variable; an empty one counts as unset.
  func text(_ name: String) -> String? {
    self[name].flatMap { $0.isEmpty ? nil : $0 }
  }
}

package import Platform

/// An access key.
///
/// Prints and mirrors nothing of itself.
package struct S3Credentials: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
  /// The key's id.
  package let accessKeyID: String
  /// The key's secret.
  package let secretAccessKey: String
  /// The token of temporary credentials.
  package let sessionToken: String?
  /// When temporary credentials end, by the clock of the service; nil when it does not say.
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

  /// A fixed text: secrets do not print themselves.
  package var description: String { "S3Credentials(…)" }
  /// Nothing: secrets do not print themselves.
  package var customMirror: Mirror { Mirror(self, children: [:]) }

  /// Whether requests signed with either are the same.
  func signsLike(_ other: S3Credentials) -> Bool {
    accessKeyID == other.accessKeyID && secretAccessKey == other.secretAccessKey
      && sessionToken == other.sessionToken
  }
}

extension [String: String] {
  /// The value of a variable; one that is set to nothing counts as not set.
  func text(_ name: String) -> String? {
    self[name].flatMap { $0.isEmpty ? nil : $0 }
  }
}

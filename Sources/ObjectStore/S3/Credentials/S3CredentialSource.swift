/// Supplies a store's access key, request by request.
package protocol S3CredentialSource: Sendable {
  /// The key to sign with now.
  ///
  /// Throws `StoreError`: `configuration` if there is none, or half of one.
  func credentials() async throws -> S3Credentials

  /// A different key, read again because the service refused this one.
  ///
  /// Nil if there is no other.
  func replacement(for refused: S3Credentials) async -> S3Credentials?
}

/// A key that never changes.
extension S3Credentials: S3CredentialSource {
  /// This key.
  package func credentials() async throws -> S3Credentials { self }

  /// Nil: there is no other.
  package func replacement(for refused: S3Credentials) async -> S3Credentials? { nil }
}

/// Where a store takes its access key from, request by request.
package protocol S3CredentialSource: Sendable {
  /// The key to sign with now.
  ///
  /// Throws `StoreError`: `configuration` when there is none, or half of one.
  func credentials() async throws -> S3Credentials

  /// Another key, read anew because the service refused this one.
  ///
  /// Nil when there is no other.
  func replacement(for refused: S3Credentials) async -> S3Credentials?
}

/// A key that never changes.
extension S3Credentials: S3CredentialSource {
  /// Itself.
  package func credentials() async throws -> S3Credentials { self }

  /// None.
  package func replacement(for refused: S3Credentials) async -> S3Credentials? { nil }
}

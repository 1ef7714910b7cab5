/// One source in the chain of sources of an access key.
protocol CredentialLink: Sendable {
  /// Whether the user configured this source: then later ones are ignored, even if it has no key.
  var isConfigured: Bool { get }

  /// Reads the source.
  ///
  /// Throws `StoreError` if it contains something other than a whole key.
  func find() async throws -> CredentialFinding
}

/// A source on this machine, which is read without waiting.
protocol LocalCredentialLink: CredentialLink {
  /// Reads the source, like ``CredentialLink/find()``.
  func findLocally() throws -> CredentialFinding
}

extension LocalCredentialLink {
  var isConfigured: Bool { false }

  func find() async throws -> CredentialFinding { try findLocally() }
}

/// The content of a source in the chain.
enum CredentialFinding: Sendable {
  /// A key, and where it was found, in words that do not reveal it.
  case key(S3Credentials, origin: String)
  /// No key, and where it was searched for.
  case nothing(String)
}

extension CredentialFinding {
  /// The finding for an id, a secret and a token.
  ///
  /// Throws `configuration` for half of a key.
  static func key(
    _ id: String?, _ secret: String?, _ token: String?, names: (String, String), origin: String,
    otherwise: String
  ) throws -> CredentialFinding {
    func half(_ missing: String) -> StoreError {
      .credentials("\(missing) is missing in \(origin)", advice: "Set \(missing) as well.")
    }
    switch (id, secret) {
    case (nil, nil): return .nothing(otherwise)
    case (let id?, let secret?):
      // A header cannot contain them, and no service issues such keys.
      guard !(id + secret + (token ?? "")).utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) else {
        throw StoreError.credentials(
          "the key in \(origin) holds control characters", advice: "Correct \(names.1).")
      }
      let key = S3Credentials(accessKeyID: id, secretAccessKey: secret, sessionToken: token)
      return .key(key, origin: origin)
    case (nil, _): throw half(names.0)
    case (_, nil): throw half(names.1)
    }
  }
}

extension StoreError {
  /// An error about the credentials.
  static func credentials(
    _ what: String, code: StoreError.Code = .configuration, advice: String
  ) -> StoreError {
    StoreError(code, operation: "open", target: "s3", response: what, advice: advice)
  }
}

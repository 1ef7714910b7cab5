/// One place of the chain in which an access key may be found.
protocol CredentialLink: Sendable {
  /// Whether the user has pointed here: then no later place counts, whatever is found.
  var isConfigured: Bool { get }

  /// Looks.
  ///
  /// Throws `StoreError` when something is here, but not a whole key.
  func look() async throws -> CredentialFinding
}

/// A place on this machine, which can be looked at without waiting.
protocol LocalCredentialLink: CredentialLink {
  /// Looks, as ``CredentialLink/look()`` does.
  func lookHere() throws -> CredentialFinding
}

extension LocalCredentialLink {
  var isConfigured: Bool { false }

  func look() async throws -> CredentialFinding { try lookHere() }
}

/// What a place of the chain holds.
enum CredentialFinding: Sendable {
  /// A key, and where it was found, in words that do not tell it.
  case key(S3Credentials, origin: String)
  /// Nothing, and what was looked at.
  case nothing(String)
}

extension CredentialFinding {
  /// What an id, a secret and a token come to.
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
      // A header cannot hold them, and no service makes such keys.
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
  /// What is wrong with the credentials.
  static func credentials(
    _ what: String, code: StoreError.Code = .configuration, advice: String
  ) -> StoreError {
    StoreError(code, operation: "open", target: "s3", response: what, advice: advice)
  }
}

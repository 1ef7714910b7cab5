/// A key in a profile of the configuration files shared by the AWS tools.
struct ProfileCredentials: LocalCredentialLink {
  let environment: [String: String]
  let settings: StoreSettings.S3

  /// Settings that a profile may contain instead of a key, and that are not supported.
  private static let unsupported = [
    "role_arn", "credential_process", "sso_session", "sso_start_url", "credential_source",
    "web_identity_token_file", "login_session",
  ]

  func findLocally() throws -> CredentialFinding {
    let profile = try AWSProfile.load(environment: environment, settings: settings)
    let names = ("aws_access_key_id", "aws_secret_access_key")
    let place = "profile \(profile.name) in \(profile.keyFile)"
    if profile[names.0] == nil, profile[names.1] == nil,
      let found = Self.unsupported.first(where: { profile[$0] != nil })
    {
      throw StoreError.credentials(
        "profile \(profile.name) has \(found) and no key, which is not supported",
        advice: "Put a key into the profile, or the output of "
          + "'aws configure export-credentials --format env' into the environment.")
    }
    return try .key(
      profile[names.0], profile[names.1], profile["aws_session_token"], names: names,
      origin: place, otherwise: "no \(place)")
  }
}

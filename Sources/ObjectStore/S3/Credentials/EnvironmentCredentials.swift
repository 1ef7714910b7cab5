/// A key in the environment, or in files named by its `_FILE` variables.
struct EnvironmentCredentials: LocalCredentialLink {
  let environment: [String: String]

  func findLocally() throws -> CredentialFinding {
    let names = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")
    return try .key(
      environment.secret(names.0), environment.secret(names.1),
      environment.secret("AWS_SESSION_TOKEN"), names: names, origin: "the environment",
      otherwise: "\(names.0) is not set")
  }
}

/// A key in the configuration, with the secret usually in a file that it names.
struct SettingsCredentials: LocalCredentialLink {
  let settings: StoreSettings.S3

  func findLocally() throws -> CredentialFinding {
    let names = ("s3.access-key-id", "s3.secret-access-key-file")
    let secret =
      try settings.secretAccessKey
      ?? settings.secretAccessKeyFile.map { try SecretFile.read($0, named: names.1) }
    return try .key(
      settings.accessKeyID, secret, settings.sessionToken, names: names,
      origin: "the configuration", otherwise: "\(names.0) is not set")
  }
}

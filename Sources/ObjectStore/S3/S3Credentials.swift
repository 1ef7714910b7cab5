/// An access key.
///
/// Prints and mirrors nothing of itself.
public struct S3Credentials: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
  /// The key's id.
  public let accessKeyID: String
  /// The key's secret.
  public let secretAccessKey: String
  /// The token of temporary credentials.
  public let sessionToken: String?

  /// Makes credentials.
  public init(accessKeyID: String, secretAccessKey: String, sessionToken: String? = nil) {
    self.accessKeyID = accessKeyID
    self.secretAccessKey = secretAccessKey
    self.sessionToken = sessionToken
  }

  /// A fixed text: secrets do not print themselves.
  public var description: String { "S3Credentials(…)" }
  /// Nothing: secrets do not print themselves.
  public var customMirror: Mirror { Mirror(self, children: [:]) }

  /// Finds the access key: environment, then settings, then the profile in the AWS files.
  ///
  /// Throws `StoreError` with `configuration` when half of a key is set, or none is found.
  public static func resolve(environment: [String: String], settings: StoreSettings.S3) throws
    -> S3Credentials
  {
    let names = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")
    if let found = try whole(
      environment.text(names.0), environment.text(names.1), environment.text("AWS_SESSION_TOKEN"),
      names: names, source: "the environment")
    {
      return found
    }
    if let found = try whole(
      settings.accessKeyID, settings.secretAccessKey, settings.sessionToken,
      names: ("access-key-id", "secret-access-key"), source: "the configuration")
    {
      return found
    }
    let profile = try AWSProfile.load(environment: environment, settings: settings)
    if let found = try whole(
      profile["aws_access_key_id"], profile["aws_secret_access_key"],
      profile["aws_session_token"], names: ("aws_access_key_id", "aws_secret_access_key"),
      source: "profile \(profile.name)")
    {
      return found
    }
    throw missing(
      "no access key found",
      "Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or a profile in ~/.aws/credentials.")
  }

  private static func whole(
    _ id: String?, _ secret: String?, _ token: String?, names: (String, String), source: String
  ) throws -> S3Credentials? {
    switch (id, secret) {
    case (nil, nil): return nil
    case (let id?, let secret?):
      return S3Credentials(accessKeyID: id, secretAccessKey: secret, sessionToken: token)
    case (nil, _): throw missing("\(names.0) is missing in \(source)", "Set \(names.0) as well.")
    case (_, nil): throw missing("\(names.1) is missing in \(source)", "Set \(names.1) as well.")
    }
  }

  private static func missing(_ what: String, _ advice: String) -> StoreError {
    StoreError(
      .configuration, operation: "open", target: "s3", response: what, advice: advice)
  }
}

extension [String: String] {
  /// The value of a variable; one that is set to nothing counts as not set.
  func text(_ name: String) -> String? {
    self[name].flatMap { $0.isEmpty ? nil : $0 }
  }
}

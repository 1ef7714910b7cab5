public import Foundation

/// How to reach a store, as the configuration file says; the environment overrides it.
///
/// Prints and mirrors nothing: it holds passwords.
public struct StoreSettings: Sendable, CustomStringConvertible, CustomReflectable {
  /// The settings of S3 stores.
  public struct S3: Sendable, CustomStringConvertible, CustomReflectable {
    /// The URL of a service other than AWS, such as `https://minio.example:9000`.
    public var endpoint: String?
    /// The region to sign for.
    public var region: String?
    /// The access key's id.
    public var accessKeyID: String?
    /// The access key's secret.
    public var secretAccessKey: String?
    /// The token of temporary credentials.
    public var sessionToken: String?
    /// The profile to read from the AWS files.
    public var profile: String?
    /// Whether the bucket stands in the path; nil: yes for custom endpoints, no for AWS.
    public var pathStyle: Bool?

    /// Makes empty settings.
    public init() {}

    /// A fixed text: the settings hold secrets.
    public var description: String { "StoreSettings.S3(…)" }
    /// Nothing: the settings hold secrets.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
  }

  /// The WebDAV user name.
  public var webdavUser: String?
  /// The WebDAV password.
  public var webdavPassword: String?
  /// The settings of S3 stores.
  public var s3 = S3()
  /// A PEM file with the certificate authorities to trust instead of the system's.
  public var caFile: String?
  /// The URL of a proxy; nil: what the environment says.
  public var proxy: String?
  /// How many requests may run at once.
  public var transfers = 4
  /// How many seconds a connection may take to be made.
  public var connectTimeout: TimeInterval = 15
  /// After how many seconds without progress a request is given up.
  public var stallTimeout: TimeInterval = 30

  /// Makes the default settings.
  public init() {}

  /// A fixed text: the settings hold secrets.
  public var description: String { "StoreSettings(…)" }
  /// Nothing: the settings hold secrets.
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}

public import Foundation
public import HTTPTransport

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
    /// The file whose first line is the secret, read anew whenever the key is.
    public var secretAccessKeyFile: String?
    /// The token of temporary credentials.
    public var sessionToken: String?
    /// The profile to read from the AWS files.
    public var profile: String?
    /// Whether the bucket stands in the path; nil: yes for custom endpoints, no for AWS.
    public var pathStyle: Bool?
    /// The row of the table of providers that the service is; nil: by the endpoint's host.
    public var provider: String?
    /// The encryption to ask for with each object: `AES256` or `aws:kms`.
    public var serverSideEncryption: String?
    /// The id of the key for `aws:kms`; nil: the service's own.
    public var kmsKeyID: String?
    /// The storage class to ask for with each object.
    public var storageClass: String?

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
  /// The file whose first line is the WebDAV password.
  public var webdavPasswordFile: String?
  /// The file whose first line is the token for bearer authentication.
  public var webdavTokenFile: String?
  /// The settings of S3 stores.
  public var s3 = S3()
  /// A PEM file with the certificate authorities to trust instead of the system's.
  public var caFile: String?
  /// A PEM file with the certificate to show to servers that want one.
  public var clientCertificateFile: String?
  /// A PEM file with the certificate's private key; nil: it stands in the certificate's file.
  public var clientKeyFile: String?
  /// The public keys of which the server must have one, as ``HTTPTransport/TLS/pinnedKey``.
  public var pinnedKey: String?
  /// The oldest version of TLS that is accepted.
  public var minimumTLS = TLS.Version.v12
  /// Whether plain `http` to other machines is accepted.
  public var allowsPlaintext = false
  /// The URL of a proxy; nil: what the environment says.
  public var proxy: String?
  /// How many requests may run at once; nil: as many as there is work for, and ``mostTransfers``.
  public var transfers: Int?
  /// How many requests run at once at the most where nothing is said of it (32).
  public static let mostTransfers = 32
  /// How many bytes of bodies a second all requests together may move; nil for no bound.
  public var limitRate: Int64?
  /// How many requests may be sent in all; nil for no bound.
  public var maximumRequests: Int?
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

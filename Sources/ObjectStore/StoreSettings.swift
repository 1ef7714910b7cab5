import Foundation
package import HTTPTransport
package import Logging
package import Platform

/// How to reach a store, according to the configuration file; the environment overrides it.
///
/// Neither `description` nor reflection reveals anything: it contains passwords.
package struct StoreSettings: Sendable, CustomStringConvertible, CustomReflectable {
  /// The settings of S3 stores.
  package struct S3: Sendable, CustomStringConvertible, CustomReflectable {
    /// The URL of a service other than AWS, such as `https://minio.example:9000`.
    package var endpoint: String?
    /// The region to sign for.
    package var region: String?
    /// The access key's id.
    package var accessKeyID: String?
    /// The access key's secret.
    package var secretAccessKey: String?
    /// The file whose first line is the secret, read again whenever the key is.
    package var secretAccessKeyFile: String?
    /// The token of temporary credentials.
    package var sessionToken: String?
    /// The profile to read from the AWS files.
    package var profile: String?
    /// Whether the bucket is in the path; nil: yes for custom endpoints, no for AWS.
    package var pathStyle: Bool?
    /// The service's id in the table of providers; nil: by the endpoint's host.
    package var provider: String?
    /// The encryption to request for each object: `AES256` or `aws:kms`.
    package var serverSideEncryption: String?
    /// The id of the key for `aws:kms`; nil: the service's own.
    package var kmsKeyID: String?
    /// The storage class to request for each object.
    package var storageClass: String?

    /// Makes empty settings.
    package init() {}

    /// A fixed text: the settings contain secrets.
    package var description: String { "StoreSettings.S3(…)" }
    /// An empty mirror: the settings contain secrets.
    package var customMirror: Mirror { Mirror(self, children: [:]) }
  }

  /// The WebDAV user name.
  package var webdavUser: String?
  /// The WebDAV password.
  package var webdavPassword: String?
  /// The file whose first line is the WebDAV password.
  package var webdavPasswordFile: String?
  /// The file whose first line is the token for bearer authentication.
  package var webdavTokenFile: String?
  /// The settings of S3 stores.
  package var s3 = S3()
  /// A PEM file with the certificate authorities to trust instead of the system's.
  package var caFile: String?
  /// A PEM file with the client certificate for servers that require one.
  package var clientCertificateFile: String?
  /// A PEM file with the certificate's private key; nil: it is in the certificate's file.
  package var clientKeyFile: String?
  /// The accepted public keys of the server, as ``HTTPTransport/TLS/pinnedKey``.
  package var pinnedKey: String?
  /// The oldest accepted version of TLS.
  package var minimumTLS = TLS.Version.v12
  /// Whether plain `http` to other machines is allowed.
  package var allowsPlaintext = false
  /// The URL of a proxy; nil for the environment's.
  package var proxy: String?
  /// Maximum number of concurrent requests; nil for as many as useful, up to ``mostTransfers``.
  package var transfers: Int?
  /// Default maximum number of concurrent requests of ordinary size.
  package static let standardTransfers = HTTPTransport.Options().workers
  /// Default maximum number of concurrent requests (32).
  package static let mostTransfers = 32
  /// Maximum bytes of bodies per second, for all requests together; nil for no limit.
  package var limitRate: ByteCount?
  /// Maximum number of requests in all; nil for no limit.
  package var maximumRequests: Int?
  /// Timeout for making a connection.
  package var connectTimeout = HTTPTransport.Options().connectTimeout
  /// Time without progress after which a request is abandoned.
  package var stallTimeout = HTTPTransport.Options().stallTimeout
  /// The source of time and randomness.
  package let machine: Machine
  /// Logs the requests to the store.
  package var logger = Logger.off

  /// Whether the log must not contain paths of URLs and values of header fields.
  package var hasSecretTargets = false

  /// The secrets in the settings themselves.
  var secrets: [String] {
    [webdavPassword, s3.secretAccessKey, s3.sessionToken].compactMap(\.self)
  }

  /// Makes the default settings.
  package init(machine: Machine) { self.machine = machine }

  /// A fixed text: the settings contain secrets.
  package var description: String { "StoreSettings(…)" }
  /// An empty mirror: the settings contain secrets.
  package var customMirror: Mirror { Mirror(self, children: [:]) }
}

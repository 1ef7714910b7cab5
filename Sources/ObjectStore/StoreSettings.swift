import Foundation
package import HTTPTransport
package import Logging
package import Platform

/// How to reach a store, as the configuration file says; the environment overrides it.
///
/// Prints and mirrors nothing: it holds passwords.
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
    /// The file whose first line is the secret, read anew whenever the key is.
    package var secretAccessKeyFile: String?
    /// The token of temporary credentials.
    package var sessionToken: String?
    /// The profile to read from the AWS files.
    package var profile: String?
    /// Whether the bucket stands in the path; nil: yes for custom endpoints, no for AWS.
    package var pathStyle: Bool?
    /// The row of the table of providers that the service is; nil: by the endpoint's host.
    package var provider: String?
    /// The encryption to ask for with each object: `AES256` or `aws:kms`.
    package var serverSideEncryption: String?
    /// The id of the key for `aws:kms`; nil: the service's own.
    package var kmsKeyID: String?
    /// The storage class to ask for with each object.
    package var storageClass: String?

    /// Makes empty settings.
    package init() {}

    /// A fixed text: the settings hold secrets.
    package var description: String { "StoreSettings.S3(…)" }
    /// Nothing: the settings hold secrets.
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
  /// A PEM file with the certificate to show to servers that want one.
  package var clientCertificateFile: String?
  /// A PEM file with the certificate's private key; nil: it stands in the certificate's file.
  package var clientKeyFile: String?
  /// The public keys of which the server must have one, as ``HTTPTransport/TLS/pinnedKey``.
  package var pinnedKey: String?
  /// The oldest version of TLS that is accepted.
  package var minimumTLS = TLS.Version.v12
  /// Whether plain `http` to other machines is accepted.
  package var allowsPlaintext = false
  /// The URL of a proxy; nil: what the environment says.
  package var proxy: String?
  /// How many requests may run at once; nil: as many as there is work for, and ``mostTransfers``.
  package var transfers: Int?
  /// How many requests run at once at the most where nothing is said of it (32).
  package static let mostTransfers = 32
  /// How many bytes of bodies a second all requests together may move; nil for no bound.
  package var limitRate: ByteCount?
  /// How many requests may be sent in all; nil for no bound.
  package var maximumRequests: Int?
  /// How long a connection may take to be made.
  package var connectTimeout = Duration.seconds(15)
  /// The time without progress after which a request is given up.
  package var stallTimeout = Duration.seconds(30)
  /// Gives the time and randomness.
  package var machine = Machine.current
  /// Hears of what is asked of the store.
  package var logger = Logger.off

  /// The secrets that the settings themselves hold.
  var secrets: [String] {
    [webdavPassword, s3.secretAccessKey, s3.sessionToken].compactMap(\.self)
  }

  /// Makes the default settings.
  package init() {}

  /// A fixed text: the settings hold secrets.
  package var description: String { "StoreSettings(…)" }
  /// Nothing: the settings hold secrets.
  package var customMirror: Mirror { Mirror(self, children: [:]) }
}

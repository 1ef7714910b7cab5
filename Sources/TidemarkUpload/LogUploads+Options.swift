public import Logging
public import Platform
public import Redaction

extension LogUploads {
  /// How a program's sessions are uploaded.
  public struct Options: Sendable {
    /// Time between two uploads while the session grows; an ERROR after a quiet time is uploaded at
    /// once.
    public var interval = Duration.seconds(60)
    /// How long ``LogUploads/finish(_:)`` may take; the next start, or cron, sends the rest.
    public var patience = Duration.seconds(10)
    /// The rules that mask text before upload; private values are always masked.
    public var rules = RedactionRules()
    /// Lived time after which local copies are deleted, once proven remote (7 days).
    public var keepsLocal = Duration.days(7)
    /// Age at which this device's sessions are deleted from the store; nil leaves that to other
    /// programs.
    public var keepsRemote: Duration?
    /// Maximum size of all local sessions in bytes; above it, proven ones are deleted before their
    /// age.
    ///
    /// Nil for no limit.
    public var localMax: ByteCount?
    /// Maximum number of concurrent requests; memory grows with it.
    public var transfers = 4
    /// Credentials and settings of the store, under the names of the command line's environment
    /// variables; nil for the process's own environment.
    ///
    /// `TIDEMARK_WEBDAV_USER` and `TIDEMARK_WEBDAV_PASSWORD`, or `AWS_ACCESS_KEY_ID`,
    /// `AWS_SECRET_ACCESS_KEY`, `AWS_REGION` and the other variables that AWS's own tools read.
    public var environment: [String: String]?
    /// Whether plain `http` to other machines is accepted: logs and password are sent unencrypted.
    public var allowsPlaintext = false
    /// Gets each request and decision of an upload, secrets removed; nil for none.
    ///
    /// Give it a handler of its own: one that records into this program's session would be uploaded,
    /// which it then logs again.
    public var logger: Logger?

    /// The defaults.
    public init() {}
  }

  /// The result of an upload.
  public struct Outcome: Sendable, Equatable {
    /// Log bytes that were sent.
    public var sent: ByteCount = 0
    /// Sessions that were sealed.
    public var sealed = 0
    /// Log bytes that were not sent.
    public var waiting: ByteCount = 0
    /// Reasons why bytes or sessions were not sent, one line each.
    public var problems: [String] = []
    /// Why no upload was attempted; nil if one was.
    public var skipped: Skip?

    /// Why no upload was attempted.
    public enum Skip: Sendable, Equatable {
      /// Consent is `none`.
      case consent
      /// Another process is uploading this home.
      case busy
    }

    /// Nothing was sent.
    public init() {}
  }
}

public import Platform
public import Redaction

extension LogUploads {
  /// How a program's sessions are uploaded.
  public struct Options: Sendable {
    /// Time between two uploads while the session grows; an ERROR after a quiet time goes at once.
    public var interval = Duration.seconds(60)
    /// How long ``LogUploads/finish(_:)`` may take; what remains is sent by the next start, or by cron.
    public var patience = Duration.seconds(10)
    /// The rules that mask text before upload; private values are always masked.
    public var rules = RedactionRules()
    /// Lived time after which local copies go that the store has proven to have (7 days).
    public var keepsLocal = Duration.days(7)
    /// Age at which this device's sessions go from the store; nil leaves that to others.
    public var keepsRemote: Duration?
    /// Bytes that local sessions may take: proven ones go before their age for it; nil for any.
    public var localMax: ByteCount?
    /// Requests under way at once, which memory grows with.
    public var transfers = 4
    /// Credentials and settings of the store, by the names that the command line takes them from the
    /// environment; nil for the process's own environment.
    ///
    /// `TIDEMARK_WEBDAV_USER` and `TIDEMARK_WEBDAV_PASSWORD`, or `AWS_ACCESS_KEY_ID`,
    /// `AWS_SECRET_ACCESS_KEY`, `AWS_REGION` and what else AWS's own tools read.
    public var environment: [String: String]?
    /// Whether plain `http` to other machines is accepted: logs and password are sent unencrypted.
    public var allowsPlaintext = false

    /// The defaults.
    public init() {}
  }

  /// The result of an upload.
  public struct Outcome: Sendable, Equatable {
    /// Log bytes that were sent.
    public var sent: ByteCount = 0
    /// Sessions that were sealed.
    public var sealed = 0
    /// Log bytes that wait.
    public var waiting: ByteCount = 0
    /// Why what was to be sent was not, a line each.
    public var problems: [String] = []
    /// Why nothing was tried; nil where it was.
    public var skipped: Skip?

    /// Why an upload did nothing.
    public enum Skip: Sendable, Equatable {
      /// Consent is `none`.
      case consent
      /// Another process uploads this home at this moment.
      case busy
    }

    /// Nothing was sent.
    public init() {}
  }
}

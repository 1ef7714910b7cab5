public import LogRecords
public import Logging
public import Platform
public import SessionLog

/// How a program's session is recorded.
///
/// The defaults need no configuration:
///
/// ```swift
/// Tidemark.start("Kiosk")
/// let logger = Logger(label: "Checkout")
/// ```
public struct LoggingConfiguration: Sendable {
  /// Which records the console shows.
  public enum Console: Sendable, Equatable {
    /// Nothing.
    case off
    /// Records of this level and above, on standard error.
    case standardError(from: Level)
  }

  /// The program's name in lists.
  public var app: String
  /// Its version.
  public var appVersion: String?
  /// Its build number.
  public var buildNumber: String?
  /// The user of the program, if not the user of the machine.
  public var userId: String?
  /// The folder of all state; nil for the one that `TIDEMARK_HOME` names, else the user's default,
  /// which `tidemark list` and `tidemark upload` use too.
  public var home: String?
  /// Records below it are not written.
  public var recordLevel = Level.trace
  /// The level that new `Logger`s begin with.
  public var logLevel = Logger.Level.info
  /// Which records the console shows; all by default.
  public var console = Console.standardError(from: .trace)
  /// Whether the output of the program, and of programs that it starts, is recorded as well.
  ///
  /// It appears on the console as before. A program killed by `SIGKILL` may lose the last output,
  /// at most 128 KiB of each stream; the next start writes a GAP record for it. Output before a
  /// crash is recorded.
  public var capturesConsole = false
  /// Whether signals and traps that end the program leave a last record; handlers installed before
  /// are called afterwards.
  public var catchesSignals = true
  /// Scenarios that are declared at the start.
  public var scenarios: [Scenario] = []
  /// When the log is made durable against a power loss; a crash never loses written records.
  ///
  /// Only with `FsyncPolicy.always` does writing a record wait for the disk.
  public var fsync = FsyncPolicy.interval(.seconds(1))
  /// Length in bytes at which the live log is rotated; 0 for never.
  public var rotateAt = RecordingOptions.defaultRotation
  /// Maximum size of all sessions of the home, in bytes; nil for no limit.
  ///
  /// Above it, no record is written until space is freed; then a GAP record reports the missing
  /// ones.
  public var localMax: ByteCount?

  /// The defaults.
  ///
  /// - Parameters:
  ///   - app: the program's name in lists.
  ///   - version: its version.
  public init(app: String, version: String? = nil) {
    self.app = app
    appVersion = version
  }
}

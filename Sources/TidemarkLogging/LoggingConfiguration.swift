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
  /// The user of the program, where that is not the user of the machine.
  public var userId: String?
  /// The folder of all state; nil for what `TIDEMARK_HOME` names, else the user's usual one, which
  /// `tidemark list` and `tidemark upload` use too.
  public var home: String?
  /// Records below it are not written.
  public var recordLevel = Level.trace
  /// The level that new `Logger`s begin with.
  public var logLevel = Logger.Level.info
  /// Which records the console shows; all by default.
  public var console = Console.standardError(from: .trace)
  /// Whether what the program prints, and what the programs print that it starts, is recorded as well.
  ///
  /// It appears on the console as before. A program that is killed by `SIGKILL` may lose what is on
  /// its way, at most 128 KiB of each stream; the next start writes a GAP record for it. What a crash
  /// finds on its way is recorded.
  public var capturesConsole = false
  /// Whether signals and traps that end the program leave a last record; handlers that are there
  /// already are called afterwards.
  public var catchesSignals = true
  /// Scenarios that are declared at the start.
  public var scenarios: [Scenario] = []
  /// When the log is made durable against a power loss; a crash never loses what was written.
  ///
  /// Only `FsyncPolicy.always` lets records wait for the disk.
  public var fsync = FsyncPolicy.interval(.seconds(1))
  /// Length in bytes from which on the live log is rotated; 0 for never.
  public var rotateAt = RecordingOptions.defaultRotation
  /// How many bytes all sessions of the home may take; nil for as many as the disk takes.
  ///
  /// Beyond it nothing is written until there is room, and a GAP record says what is missing.
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

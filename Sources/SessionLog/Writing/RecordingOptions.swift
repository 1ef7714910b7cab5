public import LogRecords
public import Platform

/// How a session is recorded.
public struct RecordingOptions: Sendable {
  /// When the log is made durable.
  public var fsync = FsyncPolicy.interval(.seconds(1))
  /// Length in bytes at which the live log is rotated; 0 for never.
  public var rotateAt = Self.defaultRotation
  /// Whether each line gets a prefix, or the log contains exactly what the program printed.
  public var format = LogFormat.lines
  /// The level of lines on standard error that do not state theirs.
  public var standardErrorLevel = Level.info
  /// How long a line waits for its newline before it is written without; one that may end in a
  /// secret waits a minute.
  public var patience = Duration.seconds(60)
  /// Maximum size of the home's sessions in bytes; nil for no limit.
  public var localMax: ByteCount?
  /// The session that this one continues.
  public var continues: SessionID?
  /// ``Consent/metadata`` if the log must not be sent; nil if it may be, or nothing is sent.
  public var consent: Consent?
  /// The scenarios that the session declares.
  public var scenarios: [ScenarioName] = []
  /// Whether syncing and rotating are left to ``SessionWriter/tick()``, so that no record waits for
  /// them; for at most one writer of a session.
  package var leavesDiskToTick = false
  /// Called with the paths of the former log and of the one in which the session continues, before a
  /// record is written there; must not use the writer.
  package var moved: (@Sendable (_ former: String, _ log: String) -> Void)?
  /// Says one line to the person who runs the program; nil if nobody is told.
  package var report: (@Sendable (String) -> Void)?

  /// Default length in bytes at which a live log is rotated.
  public static let defaultRotation: ByteCount = 10_000_000

  /// The default options.
  public init() {}
}

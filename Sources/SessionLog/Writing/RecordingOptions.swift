public import LogRecords
public import Platform

/// How a session is recorded.
public struct RecordingOptions: Sendable {
  /// When the log is made durable.
  public var fsync = FsyncPolicy.interval(.seconds(1))
  /// Length in bytes from which on the live log is rotated; 0 for never.
  public var rotateAt = Self.defaultRotation
  /// Whether each line gets a prefix, or the log is what the program printed and nothing else.
  public var format = LogFormat.lines
  /// The level of lines on standard error that do not tell theirs.
  public var standardErrorLevel = Level.info
  /// A line that waits longer for its newline is written as it stands; one that may end in a secret waits
  /// for a minute.
  public var patience = Duration.seconds(60)
  /// How many bytes the sessions of the home may take together; nil for as many as there is room for.
  public var localMax: ByteCount?
  /// The session that this one goes on with.
  public var continues: SessionID?
  /// ``Consent/metadata`` where the log is not to leave; nil where it may, or where nothing does.
  public var consent: Consent?
  /// The scenarios that the session declares.
  public var scenarios: [ScenarioName] = []
  /// Whether syncing and rotating wait for ``SessionWriter/tick()``, so that no record waits for
  /// them; of one writer of a session at the most.
  package var leavesDiskToTick = false

  /// Length in bytes from which on a live log is rotated, where nothing else is said.
  public static let defaultRotation: ByteCount = 10_000_000

  /// The defaults.
  public init() {}
}

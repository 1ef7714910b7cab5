public import LogRecords
public import Platform

/// A session that another process records, for those who have a word to add.
public struct RunningSession: ~Copyable {
  /// What became of the attempt to join a session.
  public enum Problem: Error, Sendable, CustomStringConvertible {
    /// There is no such session here.
    case unknown(SessionID)
    /// It has ended.
    case ended(SessionID)
    /// Its log has no records: it is what a program printed and nothing else.
    case hasNoRecords(SessionID)

    /// One line for a person.
    public var description: String {
      switch self {
      case .unknown(let session): "no session \(session) on this machine"
      case .ended(let session): "session \(session) has ended"
      case .hasNoRecords(let session):
        "session \(session) is recorded as it is, and takes no records"
      }
    }
  }

  private var appender: LogAppender
  private let lock: FileLock
  private let path: String
  private let machine: Machine
  private let home: Home
  private let session: SessionID

  /// Joins a session.
  ///
  /// - Parameters:
  ///   - session: which.
  ///   - home: where it is recorded.
  ///   - rotateAt: length in bytes from which on the live log is rotated; 0 for never.
  ///   - machine: whose clock times the records.
  /// - Throws: ``Problem``, ``SystemError``.
  public init(
    joining session: SessionID, in home: Home,
    rotateAt: ByteCount = RecordingOptions.defaultRotation,
    machine: Machine = .current
  ) throws {
    let files = home.files(for: session)
    // A lock file that is not there must not be made: without a marker nobody would remove it.
    guard File.exists(files.marker), File.exists(files.lock) else {
      throw File.exists(files.sidecar) ? Problem.ended(session) : Problem.unknown(session)
    }
    guard let lock = try FileLock.shared(files.lock) else { throw Problem.ended(session) }
    // With the lock in hand, nobody reaches a verdict meanwhile.
    let sidecar = try Sidecar.load(files.sidecar)
    guard sidecar.status == .active, File.exists(files.marker) else {
      throw Problem.ended(session)
    }
    guard sidecar.format == .lines, sidecar.source == nil else {
      throw Problem.hasNoRecords(session)
    }
    let log = try LiveLog(files, rotateAt: rotateAt)
    appender = LogAppender(log)
    self.lock = lock
    path = files.log
    self.machine = machine
    self.home = home
    self.session = session
  }

  /// What became of a record.
  public enum Outcome: Sendable, Equatable {
    /// It stands in the log.
    case written
    /// Its scenario is off.
    case leftOut(ScenarioName)
    /// The same, and the session has not declared the scenario before.
    case leftOutFirst(ScenarioName)
  }

  /// Appends a record, in one write, unless its scenario is off.
  ///
  /// - Parameter scenario: what it belongs to; the session declares it, if it has not.
  /// - Throws: ``SystemError`` when the disk does not take it.
  @discardableResult
  public mutating func record(
    _ level: Level, category: String, _ message: String, scenario: ScenarioName?
  ) throws -> Outcome {
    if let scenario {
      // Where that cannot be written down, the scenario is what others have declared it to be.
      let new = try? DeclaredScenarios(home).declare([scenario], in: session, at: machine.now())
      guard ScenarioSwitch(home, machine: machine).isOn(scenario) else {
        return new?.isEmpty == false ? .leftOutFirst(scenario) : .leftOut(scenario)
      }
    }
    try append(level, category: category, message, scenario: scenario?.description)
    return .written
  }

  /// Appends a record, in one write.
  ///
  /// - Throws: ``SystemError`` when the disk does not take it.
  public mutating func record(_ level: Level, category: String, _ message: String) throws {
    try append(level, category: category, message)
  }

  private mutating func append(
    _ level: Level, category: String, _ message: String, scenario: String? = nil
  ) throws {
    let time = machine.now()
    let record = RecordText.bytes(
      level, category: RecordText.ownCategory(category), message, scenario: scenario, at: time)
    record.withUnsafeBytes { appender.append($0, time: time) }
    guard appender.missing == 0 else {
      throw SystemError(operation: "write", path: path, errno: appender.cause)
    }
  }
}

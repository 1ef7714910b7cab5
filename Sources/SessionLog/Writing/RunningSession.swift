public import LogRecords
public import Platform

/// A session recorded by another process, to which this one adds records.
public struct RunningSession: ~Copyable {
  /// Why a session cannot be joined.
  public enum Problem: Error, Sendable, CustomStringConvertible {
    /// There is no such session on this machine.
    case unknown(SessionID)
    /// It has ended.
    case ended(SessionID)
    /// Its log has no records, only what the program printed.
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
  ///   - session: the session.
  ///   - home: its home.
  ///   - rotateAt: length in bytes at which the live log is rotated; 0 for never.
  ///   - machine: its clock times the records.
  /// - Throws: ``Problem``, ``SystemError``.
  public init(
    joining session: SessionID, in home: Home,
    rotateAt: ByteCount = RecordingOptions.defaultRotation,
    machine: Machine
  ) throws {
    let files = home.files(for: session)
    // Do not create a missing lock file: without a marker it would never be removed.
    guard File.exists(files.marker), File.exists(files.lock) else {
      throw File.exists(files.sidecar) ? Problem.ended(session) : Problem.unknown(session)
    }
    guard let lock = try FileLock.shared(files.lock) else { throw Problem.ended(session) }
    // While we hold the lock, no process reaches a verdict.
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

  /// The running session in which a recorder continues one whose files were deleted or replaced;
  /// nil if there is none.
  ///
  /// - Throws: ``SystemError``.
  package static func successor(of session: SessionID, in home: Home) throws -> SessionID? {
    try home.openSessions().last { other in
      guard let sidecar = try? Sidecar.load(home.files(for: other).sidecar) else { return false }
      return sidecar.continues == session && sidecar.status == .active
    }
  }

  /// The result of writing a record.
  public enum Outcome: Sendable, Equatable {
    /// It is in the log.
    case written
    /// Its scenario is off.
    case leftOut(ScenarioName)
    /// Its scenario is off, and this is the session's first record of it.
    case leftOutFirst(ScenarioName)
  }

  /// Appends a record, in one write, unless its scenario is off.
  ///
  /// - Parameter scenario: the record's scenario; declared in the session if necessary.
  /// - Throws: ``SystemError`` if the disk does not accept it.
  @discardableResult
  public mutating func record(
    _ level: Level, category: String, _ message: String, scenario: ScenarioName?
  ) throws -> Outcome {
    if let scenario {
      // If the declaration cannot be written, others' declarations decide.
      let declared = DeclaredScenarios(home)
      _ = try? declared.declare([scenario], in: session, at: machine.now(), on: machine)
      guard ScenarioSwitch(home, machine: machine).isOn(scenario) else {
        let isFirst = (try? declared.leaveOut(scenario, in: session)) ?? false
        return isFirst ? .leftOutFirst(scenario) : .leftOut(scenario)
      }
    }
    try append(level, category: category, message, scenario: scenario?.description)
    return .written
  }

  /// Appends a record, in one write.
  ///
  /// - Throws: ``SystemError`` if the disk does not accept it.
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

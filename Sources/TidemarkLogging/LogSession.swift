import CLastRecord
public import LogRecords
public import Logging
import Platform
public import SessionLog
import Synchronization

/// The program's session: its records, events and end.
///
/// ``Tidemark/start(_:)`` makes one. Safe to use from many threads; a record is written by the
/// calling thread, in one system call. Nothing here fails the program: if no session can be
/// created, records appear on the console only, and ``problem`` says why.
public final class LogSession: Sendable {
  /// Why the session is not recorded, or only in part; nil if all is well.
  public let problem: (any Error)?

  let writer: SessionWriter?
  let console: ConsoleOutput?
  let recordLevel: Level
  let machine: Machine
  private let capture: ConsoleCapture?
  private let ticker = Guarded<Ticker?>(nil)
  private let isOver = Atomic(false)
  /// Distinguishes the sessions of a process.
  let number = LogSession.numbers.wrappingAdd(1, ordering: .relaxed).newValue
  private static let numbers = Atomic(0)

  /// Its id; nil if it is not recorded.
  ///
  /// If its files are deleted or replaced, another session continues it, and this becomes that
  /// one's id.
  public var id: SessionID? { writer?.session }

  /// Describes a session.
  init(
    writer: SessionWriter?, problem: (any Error)?, capture: ConsoleCapture?,
    console: ConsoleOutput?, recordLevel: Level, machine: Machine
  ) {
    (self.writer, self.problem, self.capture) = (writer, problem, capture)
    (self.console, self.recordLevel, self.machine) = (console, recordLevel, machine)
  }

  /// Starts the work that is done about once a second.
  func startTicking() {
    guard let writer else { return }
    ticker.withLock { $0 = Ticker(every: .seconds(1)) { writer.tick() } }
  }

  // MARK: Records

  private static let ownCategory = RecordWord(category: "App")

  /// Writes a record.
  ///
  /// - Parameters:
  ///   - level: the record's level.
  ///   - message: any text; not evaluated if the record is not written.
  ///   - category: any word, such as the name of a part of the program.
  ///   - scenario: the record's scenario; the record is written only while that is on.
  public func log(
    _ level: Level, _ message: @autoclosure () -> String, category: String? = nil,
    scenario: Scenario? = nil
  ) {
    // Return early for a record that is not written.
    guard level >= recordLevel, scenario?.admits(in: self) ?? true else { return }
    write(
      level, category.map(RecordWord.init(category:)) ?? Self.ownCategory, message(),
      scenario: scenario?.gate(in: self)?.word)
  }

  /// Whether records of a scenario are written at this moment; declares an unknown one.
  public func isOn(_ scenario: Scenario) -> Bool { scenario.gate(in: self)?.isOpen ?? false }

  /// Writes a record from prepared parts.
  func write(
    _ level: Level, _ category: RecordWord, _ message: String, details: [UInt8] = [],
    scenario: RecordWord? = nil
  ) {
    guard level >= recordLevel else { return }
    let shows = console.map { level >= $0.level } ?? false
    guard let writer, !isOver.load(ordering: .relaxed), clastrecord_stands() == 0 else {
      if shows { showAlone(level, category, message, details, scenario) }
      return
    }
    guard shows else {
      return writer.record(level, category: category, message, details: details, scenario: scenario)
    }
    // Shown after the lock is released: a console may block for a long time.
    var shown: [UInt8] = []
    writer.record(
      level, category: category, message, details: details, scenario: scenario
    ) { shown = Array($0) }
    console?.show(shown, level)
  }

  private func showAlone(
    _ level: Level, _ category: RecordWord, _ message: String, _ details: [UInt8],
    _ scenario: RecordWord?
  ) {
    var record: [UInt8] = []
    RecordText.append(
      level, category: category, message, details: details, scenario: scenario,
      time: machine.now().isoBytes, to: &record)
    console?.show(record, level)
  }

  /// A swift-log logger whose records belong to a scenario: they are written only while it is on.
  ///
  /// ```swift
  /// let logger = session.logger("Network", scenario: .checkout)
  /// logger.debug("basket: \(basket)")
  /// ```
  ///
  /// While the scenario is off, the logger's level is `critical`, so that no message below that is
  /// evaluated; a critical one is evaluated but not written. Records not written are counted while
  /// the logger's own level is `trace`, the default.
  ///
  /// - Parameters:
  ///   - label: the category of the records.
  ///   - scenario: their scenario; declared by this call.
  public func logger(_ label: String, scenario: Scenario) -> Logger {
    let handler = ScenarioLogHandler(
      TidemarkLogHandler(
        label: label, session: self, level: .trace,
        metadataProvider: LoggingSystem.metadataProvider),
      gate: scenario.gate(in: self))
    return Logger(label: label) { _ in handler }
  }

  // MARK: Events

  /// Records that the program went to the background, as an application does.
  public func enterBackground() { writer?.record(.background("application")) }

  /// Records that the program came back to the foreground.
  public func enterForeground() { writer?.record(.foreground("application")) }

  /// Changes the sidecar's fields for the program and its user, at any time.
  ///
  /// ```swift
  /// session.describe { $0.userId = "anna" }
  /// ```
  ///
  /// - Parameter change: changes the fields.
  /// - Throws: `SystemError` when the sidecar cannot be written; the change is then written
  ///   with the next one, or at the end.
  public func describe(_ change: @Sendable (inout SessionDescription) -> Void) throws {
    try writer?.describe { sidecar in
      var description = SessionDescription(sidecar)
      change(&description)
      description.apply(to: &sidecar)
    }
  }

  /// Declares scenarios.
  ///
  /// - Returns: those that are on; earlier states are restored, and new scenarios are off.
  @discardableResult
  public func registerScenarios(_ scenarios: [Scenario]) -> [Scenario: Bool] {
    writer?.declare(scenarios.compactMap(\.name))
    return Dictionary(scenarios.map { ($0, isOn($0)) }) { first, _ in first }
  }

  /// Whether it has ended.
  public var hasEnded: Bool { isOver.load(ordering: .relaxed) }

  /// Ends the session: writes the last record, and a sidecar that states the cause.
  ///
  /// A program that exits ends its session automatically. Later records appear on the console only.
  ///
  /// - Parameter cause: how it ended.
  public func end(_ cause: ExitCause = .exit(0)) {
    guard !isOver.exchange(true, ordering: .relaxed), let writer else { return }
    capture?.stop()
    ticker.withLock { $0?.stop() }
    LastRecord.release(self)
    // The end record is in the log anyway, and a later verdict reads it there.
    try? writer.end(cause)
  }
}

/// For uploads of the same process.
extension LogSession {
  /// The home it is recorded in; nil if it is not recorded.
  package var home: Home? { writer?.home }

  /// The activity since the last call.
  package func takeActivity() -> SessionActivity { writer?.takeActivity() ?? SessionActivity() }
}

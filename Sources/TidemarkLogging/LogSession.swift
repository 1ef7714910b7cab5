import CLastRecord
public import LogRecords
import Platform
public import SessionLog
import Synchronization

/// The program's session: records, what happens to it, and its end.
///
/// ``Tidemark/start(_:)`` makes one. Safe to use from many threads; a record is written by the thread
/// that makes it, in one system call. Nothing here fails the program: where no session can be made,
/// records appear on the console alone, and ``problem`` says why.
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

  /// Its id; nil where there is none.
  public var id: SessionID? { writer?.session }

  /// Describes a session.
  init(
    writer: SessionWriter?, problem: (any Error)?, capture: ConsoleCapture?,
    console: ConsoleOutput?, recordLevel: Level, machine: Machine
  ) {
    (self.writer, self.problem, self.capture) = (writer, problem, capture)
    (self.console, self.recordLevel, self.machine) = (console, recordLevel, machine)
  }

  /// Begins what is done about once a second.
  func startTicking() {
    guard let writer else { return }
    ticker.withLock { $0 = Ticker(every: .seconds(1)) { writer.tick() } }
  }

  // MARK: Records

  private static let ownCategory = RecordWord(category: "App")

  /// Writes a record.
  ///
  /// - Parameters:
  ///   - level: how much it matters.
  ///   - message: any text; not evaluated where the record is not written.
  ///   - category: a free word, such as the part of the program.
  ///   - scenario: what the record belongs to; it is written only while that is on.
  public func log(
    _ level: Level, _ message: @autoclosure () -> String, category: String? = nil,
    scenario: Scenario? = nil
  ) {
    // A record that is left out ends here.
    guard level >= recordLevel, scenario?.admits(in: self) ?? true else { return }
    write(
      level, category.map(RecordWord.init(category:)) ?? Self.ownCategory, message(),
      scenario: scenario?.gate(in: self)?.word)
  }

  /// Whether records of a scenario are written at this moment; one that is not yet known is declared.
  public func isOn(_ scenario: Scenario) -> Bool { scenario.gate(in: self)?.isOpen ?? false }

  /// Writes a record whose parts are made ready.
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
    // Shown when others can write again: a console may take nothing for a long time.
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

  // MARK: What happens to it

  /// The program went to the background, as an application does: a record inside the session.
  public func enterBackground() { writer?.record(.background("application")) }

  /// The program came back to the foreground.
  public func enterForeground() { writer?.record(.foreground("application")) }

  /// Declares scenarios.
  ///
  /// - Returns: which of them are on: restored from earlier sessions, and off where they are new.
  @discardableResult
  public func registerScenarios(_ scenarios: [Scenario]) -> [Scenario: Bool] {
    writer?.declare(scenarios.compactMap(\.name))
    return Dictionary(scenarios.map { ($0, isOn($0)) }) { first, _ in first }
  }

  /// Whether it has ended.
  public var hasEnded: Bool { isOver.load(ordering: .relaxed) }

  /// Ends the session: the last record, and a sidecar that says how.
  ///
  /// A program that exits ends its session by itself. Records that come later appear on the console
  /// alone.
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
  /// Where it is recorded; nil where it is not.
  package var home: Home? { writer?.home }

  /// The activity since the last call.
  package func takeActivity() -> SessionActivity { writer?.takeActivity() ?? SessionActivity() }
}

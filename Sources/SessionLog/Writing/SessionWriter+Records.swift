public import LogRecords
public import Platform

/// Records that a program writes on purpose, and those of what happens to its session.
extension SessionWriter {
  /// Writes a record of the program's own, continuation lines indented.
  ///
  /// A session that is recorded as it is has no records: nothing is written. Nor is the record of a
  /// scenario that is off.
  ///
  /// - Parameters:
  ///   - level: how much it matters.
  ///   - category: a free word.
  ///   - message: any text.
  ///   - scenario: the scenario that it belongs to; the session declares it, if it has not.
  public func record(
    _ level: Level, category: String, _ message: String, scenario: ScenarioName? = nil
  ) {
    let gate = scenario.map(gate)
    guard gate?.admits() ?? true else { return }
    record(level, category: RecordWord(category: category), message, scenario: gate?.word)
  }

  /// Writes a record of the program's own whose parts are made ready.
  ///
  /// - Parameters:
  ///   - level: how much it matters.
  ///   - category: made once for many records.
  ///   - message: any text.
  ///   - details: what follows the message on its last line.
  ///   - scenario: one whose gate has admitted the record.
  ///   - echo: gets the record as it stands in the log.
  package func record(
    _ level: Level, category: RecordWord, _ message: String, details: [UInt8] = [],
    scenario: RecordWord? = nil, echo: ((UnsafeRawBufferPointer) -> Void)? = nil
  ) {
    guard options.format == .lines else { return }
    let time = machine.now()
    state.withLock { state in
      append(
        level, category, message, details: details, scenario: scenario, at: time, echo: echo, &state
      )
    }
  }

  /// Writes a record of what happens to the session.
  ///
  /// - Parameters:
  ///   - event: what.
  ///   - time: when; now where it is nil.
  public func note(_ event: SessionEvent, at time: Timestamp? = nil) {
    note(event.description, at: time ?? machine.now())
  }

  private static let ownCategory = RecordWord(recorders: Category.session)

  func note(_ text: String, _ level: Level = .info, at time: Timestamp) {
    guard options.format == .lines else { return }
    state.withLock { state in append(level, Self.ownCategory, text, at: time, &state) }
  }

  func append(
    _ level: Level, _ category: RecordWord, _ message: String, details: [UInt8] = [],
    scenario: RecordWord? = nil, at time: Timestamp,
    echo: ((UnsafeRawBufferPointer) -> Void)? = nil, _ state: inout State
  ) {
    var record: [UInt8] = []
    swap(&record, &state.buffer)
    RecordText.append(
      level, category: category, message, details: details, scenario: scenario,
      time: state.prefix(time), to: &record)
    state.statistics.count(
      level, at: time, category: category.bytes, scenario: scenario?.bytes)
    put(record, highest: level, time, &state)
    if let echo { record.withUnsafeBytes(echo) }
    guard record.capacity <= Self.keptBuffer else { return }
    record.removeAll(keepingCapacity: true)
    swap(&record, &state.buffer)
  }

  /// A longer buffer is given back, in bytes.
  private static let keptBuffer = 1 << 16
}

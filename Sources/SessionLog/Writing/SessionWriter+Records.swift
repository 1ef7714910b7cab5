public import LogRecords
public import Platform

/// Writes explicit records of a program, and records of session events.
extension SessionWriter {
  /// Writes a record of the program's own, with continuation lines indented.
  ///
  /// Writes nothing if the session is recorded as raw output, which has no records, or the record's
  /// scenario is off.
  ///
  /// - Parameters:
  ///   - level: the record's level.
  ///   - category: any word.
  ///   - message: any text.
  ///   - scenario: the record's scenario; declared in the session if necessary.
  public func record(
    _ level: Level, category: String, _ message: String, scenario: ScenarioName? = nil
  ) {
    let gate = scenario.map(gate)
    guard gate?.admits() ?? true else { return }
    record(level, category: RecordWord(category: category), message, scenario: gate?.word)
  }

  /// Writes a record of the program's own from prepared parts.
  ///
  /// - Parameters:
  ///   - level: the record's level.
  ///   - category: prepared once for many records.
  ///   - message: any text.
  ///   - details: appended to the message's last line.
  ///   - scenario: the record's scenario, whose gate has admitted it.
  ///   - echo: called with the record as written in the log.
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

  /// Writes a record of a session event.
  ///
  /// - Parameters:
  ///   - event: the event.
  ///   - time: its time; nil for now.
  public func record(_ event: SessionEvent, at time: Timestamp? = nil) {
    append(event.description, at: time ?? machine.now())
  }

  static let ownCategory = RecordWord(recorders: Category.session)

  func append(_ text: String, _ level: Level = .info, at time: Timestamp) {
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

  /// Maximum size of a buffer that is kept, in bytes.
  private static let keptBuffer = 1 << 16
}

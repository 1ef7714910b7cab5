public import LogRecords
public import Platform

/// Writes records: a program's output, its own records, and session events.
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

  // MARK: Output

  /// Records captured output; complete lines become records in one write.
  ///
  /// - Parameters:
  ///   - bytes: the program's output, cut anywhere.
  ///   - stream: the stream it was printed to.
  public func capture(_ bytes: UnsafeRawBufferPointer, from stream: CapturedStream) {
    let time = machine.now()
    state.withLock { state in
      guard options.format == .lines else {
        return put(Array(bytes), highest: .trace, time, &state)
      }
      var records: [UInt8] = []
      records.reserveCapacity(bytes.count * 2)
      var highest = Level.trace
      var unfinished = UnfinishedLines()
      swap(&unfinished, &state.unfinished)
      unfinished.take(bytes, from: stream, at: time) { line, isWhole in
        let level = append(line, stream, isWhole: isWhole, time, &state, to: &records)
        if isWhole { highest = max(highest, level) }
      }
      swap(&unfinished, &state.unfinished)
      put(records, highest: highest, time, &state)
    }
  }

  private func append(
    _ line: UnsafeRawBufferPointer, _ stream: CapturedStream, isWhole: Bool, _ time: Timestamp,
    _ state: inout State, to records: inout [UInt8]
  ) -> Level {
    let unknown = stream == .standardError ? options.standardErrorLevel : .info
    let level = LevelDetector.level(ofCaptured: line) ?? unknown
    RecordPrefix.append(
      time: state.prefix(time), level: level,
      category: isWhole ? stream.category : stream.category + [Category.continued], to: &records)
    state.statistics.count(level, at: time, category: stream.category)
    records.append(contentsOf: line)
    if !isWhole { records.append(0x0a) }
    return level
  }

  /// Writes the unfinished lines.
  func flushUnfinished(_ time: Timestamp, _ state: inout State) {
    var records: [UInt8] = []
    var unfinished = UnfinishedLines()
    swap(&unfinished, &state.unfinished)
    unfinished.takeAll { line, stream in
      _ = append(line, stream, isWhole: false, time, &state, to: &records)
    }
    put(records, highest: .trace, time, &state)
  }

  // MARK: Writing

  /// Writes records, and syncs or rotates as their number and levels require.
  func put(
    _ records: [UInt8], highest: Level, _ time: Timestamp, _ state: inout State
  ) {
    if !records.isEmpty {
      state.appender.isOverQuota = state.room?.isUsedUp ?? false
      records.withUnsafeBytes { state.appender.append($0, time: time) }
      state.room?.use(state.appender.isOverQuota ? 0 : records.count)
      state.isDirty = true
      if highest >= .error { state.activity.hasError = true }
      if state.appender.log.takeRotation() { compressor.start(state.files) }
    }
    if !options.leavesDiskToTick || options.fsync == .always {
      syncIfDue(highest: highest, time, &state)
    }
  }

  func syncIfDue(highest: Level, _ time: Timestamp, _ state: inout State) {
    guard state.isDirty else { return }
    let isDue =
      switch options.fsync {
      case .always: true
      case .never: false
      case .interval(let limit):
        highest >= .warning || time - state.lastSync >= limit
      }
    guard isDue else { return }
    // A failing sync adds nothing to what the write reported; the next one tries again.
    if state.appender.log.synchronize() { state.isDirty = false }
    state.lastSync = time
  }
}

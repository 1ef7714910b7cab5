import Dispatch
public import LogRecords
public import Platform
import Redaction

/// Writes one session: creates it, appends records, ends it.
///
/// Safe to use from many threads.
///
/// Nothing here fails the program that is recorded, the creation of the session apart: a disk that
/// is full costs a GAP record, not an error.
public final class SessionWriter: Sendable {
  /// The session.
  public let session: SessionID
  /// Its files.
  public let files: SessionFiles

  private let options: RecordingOptions
  private let reserve: Reserve
  private let machine: Machine
  private let state: Guarded<State>
  /// Compresses rotated parts, so that the program does not wait for it.
  ///
  /// Nil where everything is done in the caller's task, see ``Parallelism``.
  private let compression =
    Parallelism.isSequential
    ? nil : DispatchQueue(label: "tidemark.compression", qos: .utility)

  private struct State: ~Copyable {
    var appender: LogAppender
    /// Nil where nothing limits it.
    var room: DiskQuota?
    var lock: FileLock?
    var sidecar: Sidecar
    /// Of a session that is recorded as it is, those are found at the seal.
    var statistics = LogStatistics()
    var partial: [CapturedStream: Partial] = [:]
    var lastSync: Timestamp
    var isDirty = false
    var activity = SessionActivity()
    /// Length of the live log when it was last asked for.
    var length: Int64 = 0
    var prefixTime: (milliseconds: Int64, bytes: [UInt8]) = (.min, [])
  }

  /// Bytes of a line whose newline the program has not printed yet.
  private struct Partial {
    var bytes: [UInt8] = []
    var since: Timestamp
  }

  /// A line longer than this is cut into several records.
  static let lineLimit = 1 << 20

  /// Creates a session.
  ///
  /// The marker comes first, so that whatever follows is found again.
  ///
  /// - Parameters:
  ///   - home: where.
  ///   - device: this device.
  ///   - appName: the program's name.
  ///   - appVersion: its version, where known.
  ///   - options: how it is recorded.
  ///   - machine: identifies this process as the recorder; its clock times the records.
  ///   - writing: replaces the system's write, for tests of a full disk.
  /// - Throws: ``SystemError`` when the session cannot be created.
  public init(
    home: Home, device: Device, appName: String, appVersion: String? = nil,
    options: RecordingOptions = RecordingOptions(), machine: Machine = .current,
    writing: (@Sendable (Int32, UnsafeRawBufferPointer) -> Int)? = nil
  ) throws {
    try home.create()
    let start = machine.now()
    let session = try Self.claimID(home, start, machine)
    let files = home.files(for: session)
    try Directory.make(files.directory)
    guard let lock = try FileLock.shared(files.lock) else {
      throw SystemError(operation: "lock", path: files.lock, errno: SystemError.Number.again)
    }
    let log = try LiveLog(
      files, rotateAt: options.rotateAt, isNew: true, write: writing ?? systemWrite)
    var sidecar = Sidecar(
      id: session, device: device, appName: appName, appVersion: appVersion,
      recorder: machine.recorder(), startedAt: start)
    sidecar.format = options.format
    sidecar.continues = options.continues
    sidecar.consent = options.consent
    do {
      try sidecar.save(files.sidecar)
    } catch {
      for path in [files.log, files.lock, files.marker] { try? File.remove(path) }
      throw error
    }
    self.session = session
    self.files = files
    self.options = options
    reserve = Reserve(files.reserve)
    self.machine = machine
    state = Guarded(
      State(
        appender: LogAppender(log, options.format),
        lock: lock, sidecar: sidecar, lastSync: start))
    note("SESSION START app=\(RecordText.word(appName))", at: start)
    // How it began is told in any case.
    let room = options.localMax.map { DiskQuota(home, limit: $0, at: start) }
    state.withLock { $0.room = room }
  }

  private static func claimID(
    _ home: Home, _ start: Timestamp, _ machine: Machine
  ) throws -> SessionID {
    while true {
      let session = SessionID.make(at: start, by: machine)
      let marker = home.files(for: session).marker
      do {
        _ = try Descriptor(opening: marker, [.write, .new])
        return session
      } catch {
        guard error.isTaken else { throw error }
      }
    }
  }

  // MARK: Records

  /// Records what a captured program printed; complete lines become records in one write.
  ///
  /// - Parameters:
  ///   - bytes: the program's bytes, cut anywhere.
  ///   - stream: where it printed them.
  public func capture(_ bytes: UnsafeRawBufferPointer, from stream: CapturedStream) {
    let time = machine.now()
    state.withLock { state in
      guard options.format == .lines else {
        return put(Array(bytes), highest: .trace, time, &state)
      }
      var records: [UInt8] = []
      records.reserveCapacity(bytes.count * 2)
      var highest = Level.trace
      var rest = bytes
      while let end = LineSplitter.lineEnd(rest) {
        let line = UnsafeRawBufferPointer(rebasing: rest.prefix(end))
        rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(end))
        let level: Level
        if var partial = state.partial.removeValue(forKey: stream) {
          partial.bytes += line
          level = partial.bytes.withUnsafeBytes {
            append($0, stream, isWhole: true, time, &state, to: &records)
          }
        } else {
          level = append(line, stream, isWhole: true, time, &state, to: &records)
        }
        highest = max(highest, level)
      }
      if !rest.isEmpty {
        var partial = state.partial.removeValue(forKey: stream) ?? Partial(since: time)
        partial.bytes += rest
        if partial.bytes.count >= Self.lineLimit {
          _ = partial.bytes.withUnsafeBytes {
            append($0, stream, isWhole: false, time, &state, to: &records)
          }
        } else {
          state.partial[stream] = partial
        }
      }
      put(records, highest: highest, time, &state)
    }
  }

  /// Writes a record of the program's own, continuation lines indented.
  ///
  /// A session that is recorded as it is has no records: nothing is written.
  ///
  /// - Parameters:
  ///   - level: how much it matters.
  ///   - category: a free word.
  ///   - message: any text.
  ///   - scenario: the scenario that it belongs to.
  public func record(
    _ level: Level, category: String, _ message: String, scenario: String? = nil
  ) {
    append(level, RecordText.ownCategory(category), message, scenario: scenario, at: machine.now())
  }

  /// Writes a record of what happens to the session.
  ///
  /// - Parameters:
  ///   - event: what.
  ///   - time: when; now where it is nil.
  public func note(_ event: SessionEvent, at time: Timestamp? = nil) {
    note(event.description, at: time ?? machine.now())
  }

  private func note(_ text: String, at time: Timestamp) {
    append(.info, Category.session, text, at: time)
  }

  private func append(
    _ level: Level, _ category: String, _ message: String, scenario: String? = nil,
    at time: Timestamp
  ) {
    guard options.format == .lines else { return }
    let record = RecordText.bytes(
      level, category: category, message, scenario: scenario, at: time)
    state.withLock { state in
      state.statistics.count(level, at: time, category: Array(category.utf8))
      put(record, highest: level, time, &state)
    }
  }

  /// What has happened since the last call.
  public func takeActivity() -> SessionActivity {
    state.withLock { state in
      // Other processes write as well, and a rotation makes it shorter.
      let length = (try? FileStatus(files.log))??.length ?? 0
      var activity = state.activity
      activity.hasGrown = length != state.length
      state.length = length
      state.activity = SessionActivity()
      return activity
    }
  }

  /// How long ``tick()`` may be left.
  public var nextTick: Duration {
    state.withLock { $0.partial.isEmpty ? .seconds(1) : min(.seconds(1), options.patience) }
  }

  /// Does what is due by time: writes lines that wait too long for their end, and syncs.
  ///
  /// To be called about once a second, and earlier where ``nextTick`` says so.
  public func tick() {
    let time = machine.now()
    // Many files may have to be looked at, and nobody is to wait for that.
    var room = state.withLock { $0.room }
    room?.measure(at: time)
    state.withLock { state in
      let isOverdue = state.partial.contains {
        let waited = time - $0.value.since
        return waited >= options.patience
          && (waited >= Self.secretPatience || !Self.mayEndInSecret($0.value.bytes))
      }
      if isOverdue { flushPartial(time, &state) }
      if state.room != nil { state.room = room }
      state.appender.isHeld = state.room?.isUsedUp ?? false
      if state.appender.missing > 0 { _ = state.appender.closeGap(time: time) }
      syncIfDue(highest: .trace, time, &state)
    }
  }

  /// Ends the session: its last record, the sidecar, the lock.
  ///
  /// The marker stays for the uploader.
  ///
  /// - Parameters:
  ///   - cause: how the program ended.
  ///   - core: where its memory was written to; nil when it was not.
  /// - Throws: ``SystemError`` when the sidecar cannot be written; the end record stands in the
  ///   log all the same, and whoever comes next reaches the same verdict.
  public func end(_ cause: ExitCause, core: String? = nil) throws {
    // What is still to be written finds this room, when there is no other.
    reserve.release()
    state.withLock { state in
      // How it ended is told in any case.
      state.room = nil
      state.appender.isHeld = false
      flushPartial(machine.now(), &state)
      _ = state.appender.closeGap(time: machine.now())
    }
    append(
      EndRecord.level(of: cause), Category.session, EndRecord.start + cause.description,
      at: machine.now())
    let end = machine.now()
    if let compression { compression.sync { compressParts() } } else { compressParts() }
    try state.withLock { state in
      defer { state.lock = nil }
      _ = state.appender.log.synchronize()
      if let extent = try? RecordedLog(files).extent() {
        state.sidecar.fileSizeBytes = ByteCount(extent.end)
      }
      state.sidecar.status = cause.status
      state.sidecar.cause = cause
      state.sidecar.crash = core.map { Sidecar.Crash(core: $0) }
      state.sidecar.endedAt = end
      state.sidecar.lastUpdatedAt = end
      state.sidecar.categories = state.statistics.categoryNames
      state.sidecar.levels = state.statistics.levelCounts
      try state.sidecar.save(files.sidecar)
    }
  }

  /// A line that may end in the middle of a secret waits so long in any case: of one that is written in two pieces, neither would be masked.
  private static let secretPatience = Duration.seconds(60)

  private static func mayEndInSecret(_ line: [UInt8]) -> Bool {
    let end = Array(line.suffix(Redactor.context))
    return Redactor.standard.settled(end, at: 0, .asIs) < end.count
  }

  // MARK: Bytes

  private func append(
    _ line: UnsafeRawBufferPointer, _ stream: CapturedStream, isWhole: Bool, _ time: Timestamp,
    _ state: inout State, to records: inout [UInt8]
  ) -> Level {
    if state.prefixTime.milliseconds != time.milliseconds {
      state.prefixTime = (time.milliseconds, time.isoBytes)
    }
    let unknown = stream == .standardError ? options.standardErrorLevel : .info
    let level = LevelDetector.level(ofCaptured: line) ?? unknown
    RecordPrefix.append(
      time: state.prefixTime.bytes, level: level,
      category: isWhole ? stream.category : stream.category + [Category.continued], to: &records)
    state.statistics.count(level, at: time, category: stream.category)
    records.append(contentsOf: line)
    if !isWhole { records.append(0x0a) }
    return level
  }

  private func flushPartial(_ time: Timestamp, _ state: inout State) {
    var records: [UInt8] = []
    for (stream, partial) in state.partial.sorted(by: { $0.key.name > $1.key.name }) {
      _ = partial.bytes.withUnsafeBytes {
        append($0, stream, isWhole: false, time, &state, to: &records)
      }
    }
    state.partial = [:]
    put(records, highest: .trace, time, &state)
  }

  private func put(
    _ records: [UInt8], highest: Level, _ time: Timestamp, _ state: inout State
  ) {
    if !records.isEmpty {
      state.appender.isHeld = state.room?.isUsedUp ?? false
      records.withUnsafeBytes { state.appender.append($0, time: time) }
      state.room?.take(state.appender.isHeld ? 0 : records.count)
      state.isDirty = true
      if highest >= .error { state.activity.hasError = true }
      if state.appender.log.takeRotation() {
        if let compression {
          compression.async { [self] in compressParts() }
        } else {
          compressParts()
        }
      }
    }
    syncIfDue(highest: highest, time, &state)
  }

  private func syncIfDue(highest: Level, _ time: Timestamp, _ state: inout State) {
    guard state.isDirty else { return }
    let isDue =
      switch options.fsync {
      case .always: true
      case .never: false
      case .interval(let limit):
        highest >= .warning || time - state.lastSync >= limit
      }
    guard isDue else { return }
    // A failing sync says nothing that the write did not say; the next one tries again.
    if state.appender.log.synchronize() { state.isDirty = false }
    state.lastSync = time
  }

  /// What cannot be compressed, on a full disk say, is read as it is, and tried again after the next
  /// rotation, at the end and by the uploader.
  private func compressParts() { try? files.compressParts(format: options.format) }
}

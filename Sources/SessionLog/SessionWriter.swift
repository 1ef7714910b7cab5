import Dispatch
import Synchronization

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

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

  private let policy: FsyncPolicy
  private let now: @Sendable () -> Timestamp
  private let state: Mutex<State>
  /// Compresses rotated parts, so that the program does not wait for it.
  private let compression = DispatchQueue(label: "tidemark.compression", qos: .utility)

  private struct State: ~Copyable {
    var appender: LogAppender
    var lock: SessionLock?
    var sidecar: Sidecar
    var statistics = LogStatistics()
    var partial: [CapturedStream: Partial] = [:]
    var lastSync: Timestamp
    var isDirty = false
    var prefixTime: (milliseconds: Int64, bytes: [UInt8]) = (.min, [])
  }

  /// Bytes of a line whose newline the program has not printed yet.
  private struct Partial {
    var bytes: [UInt8] = []
    var since: Timestamp
  }

  /// A line longer than this is cut into several records.
  static let lineLimit = 1 << 20
  /// A line that waits longer for its newline is written as it stands, in milliseconds.
  static let patience: Int64 = 60_000
  /// Length in bytes from which on a live log is rotated, where nothing else is said.
  public static let defaultRotation: Int64 = 10_000_000

  /// Creates a session.
  ///
  /// The marker comes first, so that whatever follows is found again.
  ///
  /// - Parameters:
  ///   - home: where.
  ///   - device: this device.
  ///   - appName: the program's name.
  ///   - appVersion: its version, where known.
  ///   - policy: when the log is made durable.
  ///   - rotateAt: length in bytes from which on the live log is rotated; 0 for never.
  ///   - machine: what identifies this process as the recorder.
  ///   - writing: replaces the system's write, for tests of a full disk.
  ///   - now: the clock.
  /// - Throws: ``SystemError`` when the session cannot be created.
  public init(
    home: Home, device: Device, appName: String, appVersion: String? = nil,
    policy: FsyncPolicy = .interval(1000), rotateAt: Int64 = SessionWriter.defaultRotation,
    machine: MachineEvidence = .current(),
    writing: (@Sendable (Int32, UnsafeRawBufferPointer) -> Int)? = nil,
    now: @escaping @Sendable () -> Timestamp = { .now() }
  ) throws {
    try home.create()
    let start = now()
    let session = try Self.claimID(home, start)
    let files = home.files(for: session)
    try Home.makeDirectory(files.directory)
    guard let lock = try SessionLock.shared(files.lock) else {
      throw SystemError(operation: "lock", path: files.lock, errno: EWOULDBLOCK)
    }
    let log = try LiveLog(
      files, rotateAt: rotateAt, isNew: true, write: writing ?? systemWrite)
    let sidecar = Sidecar(
      id: session, device: device, appName: appName, appVersion: appVersion,
      recorder: machine.recorder(), startedAt: start)
    do {
      try sidecar.save(files.sidecar)
    } catch {
      for path in [files.log, files.lock, files.marker] { unlink(path) }
      throw error
    }
    self.session = session
    self.files = files
    self.policy = policy
    self.now = now
    state = Mutex(
      State(
        appender: LogAppender(log), lock: lock, sidecar: sidecar, lastSync: start))
    append(.info, Category.session, "SESSION START app=\(Self.word(appName))")
  }

  private static func claimID(_ home: Home, _ start: Timestamp) throws -> SessionID {
    while true {
      let session = SessionID.make(at: start)
      let marker = home.files(for: session).marker
      do {
        _ = try Descriptor(opening: marker, flags: O_WRONLY | O_CREAT | O_EXCL)
        return session
      } catch let error as SystemError where error.errno == EEXIST {
        continue
      }
    }
  }

  /// A name that cannot break the record it stands in.
  private static func word(_ text: String) -> String {
    safe(text.unicodeScalars.prefix(128)) { $0.value <= 0x20 || $0.value == 0x7f }
  }

  private static func safe(
    _ text: some Sequence<Unicode.Scalar>, _ isUnsafe: (Unicode.Scalar) -> Bool
  ) -> String {
    String(text.map { isUnsafe($0) ? "_" : Character($0) })
  }

  // MARK: Records

  /// Records what a captured program printed; complete lines become records in one write.
  ///
  /// - Parameters:
  ///   - bytes: the program's bytes, cut anywhere.
  ///   - stream: where it printed them.
  public func capture(_ bytes: UnsafeRawBufferPointer, from stream: CapturedStream) {
    let time = now()
    state.withLock { state in
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
            Self.append($0, stream, isWhole: true, time, &state, to: &records)
          }
        } else {
          level = Self.append(line, stream, isWhole: true, time, &state, to: &records)
        }
        highest = max(highest, level)
      }
      if !rest.isEmpty {
        var partial = state.partial.removeValue(forKey: stream) ?? Partial(since: time)
        partial.bytes += rest
        if partial.bytes.count >= Self.lineLimit {
          _ = partial.bytes.withUnsafeBytes {
            Self.append($0, stream, isWhole: false, time, &state, to: &records)
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
  /// - Parameters:
  ///   - level: how much it matters.
  ///   - category: a free word.
  ///   - message: any text.
  ///   - scenario: the scenario that it belongs to.
  public func record(
    _ level: Level, category: String, _ message: String, scenario: String? = nil
  ) {
    // What a reader takes for the recorder's or for captured text, only the recorder writes.
    let isReserved = Category.reserved.contains(category)
    append(level, isReserved ? category + "_" : category, message, scenario: scenario)
  }

  private func append(
    _ level: Level, _ category: String, _ message: String, scenario: String? = nil
  ) {
    let time = now()
    var record: [UInt8] = []
    RecordPrefix.append(
      time: time.isoBytes, level: level, category: Array(Self.bracketed(category).utf8),
      scenario: scenario.map(Self.bracketed), to: &record)
    for byte in message.utf8 {
      record.append(byte)
      if byte == 0x0a { record += [0x20, 0x20] }
    }
    record.append(0x0a)
    state.withLock { put(record, highest: level, time, &$0) }
  }

  /// A category or scenario without what would end its brackets.
  private static func bracketed(_ text: String) -> String {
    safe(text.unicodeScalars.prefix(64)) {
      $0.value < 0x20 || "[]{}".unicodeScalars.contains($0)
    }
  }

  /// Does what is due by time: writes lines that wait too long for their end, and syncs.
  ///
  /// To be called about once a second.
  public func tick() {
    let time = now()
    state.withLock { state in
      let overdue = state.partial.contains {
        time.milliseconds - $0.value.since.milliseconds >= Self.patience
      }
      if overdue { flushPartial(time, &state) }
      if state.appender.missing > 0 { _ = state.appender.closeGap(time: time) }
      syncIfDue(highest: .trace, time, &state)
    }
  }

  /// Ends the session: its last record, the sidecar, the lock.
  ///
  /// The marker stays for the uploader.
  ///
  /// - Parameter cause: how the program ended.
  /// - Throws: ``SystemError`` when the sidecar cannot be written; the end record stands in the
  ///   log all the same, and whoever comes next reaches the same verdict.
  public func end(_ cause: ExitCause) throws {
    state.withLock { flushPartial(now(), &$0) }
    append(.info, Category.session, EndRecord.start + cause.description)
    let end = now()
    compression.sync { compressParts() }
    try state.withLock { state in
      defer { state.lock = nil }
      _ = state.appender.log.synchronize()
      if let extent = try? RecordedLog(files).extent() {
        state.sidecar.fileSizeBytes = extent.end
      }
      state.statistics.finish()
      state.sidecar.status = cause.status
      state.sidecar.cause = cause
      state.sidecar.endedAt = end
      state.sidecar.lastUpdatedAt = end
      state.sidecar.categories = state.statistics.categoryNames
      state.sidecar.levels = state.statistics.levelCounts
      try state.sidecar.save(files.sidecar)
    }
  }

  // MARK: Bytes

  private static func append(
    _ line: UnsafeRawBufferPointer, _ stream: CapturedStream, isWhole: Bool, _ time: Timestamp,
    _ state: inout State, to records: inout [UInt8]
  ) -> Level {
    if state.prefixTime.milliseconds != time.milliseconds {
      state.prefixTime = (time.milliseconds, time.isoBytes)
    }
    let level = LevelDetector.level(of: line) ?? .info
    let category = Array(stream.name.utf8) + (isWhole ? [] : [Category.continued])
    RecordPrefix.append(
      time: state.prefixTime.bytes, level: level, category: category, to: &records)
    records.append(contentsOf: line)
    if !isWhole { records.append(0x0a) }
    return level
  }

  private func flushPartial(_ time: Timestamp, _ state: inout State) {
    var records: [UInt8] = []
    for (stream, partial) in state.partial.sorted(by: { $0.key.name > $1.key.name }) {
      _ = partial.bytes.withUnsafeBytes {
        Self.append($0, stream, isWhole: false, time, &state, to: &records)
      }
    }
    state.partial = [:]
    put(records, highest: .trace, time, &state)
  }

  private func put(
    _ records: [UInt8], highest: Level, _ time: Timestamp, _ state: inout State
  ) {
    if !records.isEmpty {
      records.withUnsafeBytes { bytes in
        state.appender.append(bytes, time: time)
        state.statistics.add(bytes)
      }
      state.isDirty = true
      if state.appender.log.takeRotation() { compression.async { [self] in compressParts() } }
    }
    syncIfDue(highest: highest, time, &state)
  }

  private func syncIfDue(highest: Level, _ time: Timestamp, _ state: inout State) {
    guard state.isDirty else { return }
    let isDue =
      switch policy {
      case .always: true
      case .never: false
      case .interval(let limit):
        highest >= .warning || time.milliseconds - state.lastSync.milliseconds >= limit
      }
    guard isDue else { return }
    // A failing sync says nothing that the write did not say; the next one tries again.
    if state.appender.log.synchronize() { state.isDirty = false }
    state.lastSync = time
  }

  /// What cannot be compressed, on a full disk say, is read as it is, and tried again after the next
  /// rotation, at the end and by the uploader.
  private func compressParts() { try? PartCompressor(files, format: .lines).run() }
}

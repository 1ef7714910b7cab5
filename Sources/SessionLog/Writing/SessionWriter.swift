import LogRecords
public import Platform

/// Writes one session: creates it, appends records, ends it.
///
/// Safe to use from many threads.
///
/// Nothing except creation fails the recorded program: a full disk costs a GAP record, not an
/// error.
public final class SessionWriter: Sendable {
  /// The session; another one, which continues it, after its files were deleted or replaced,
  /// or its log was truncated.
  public var session: SessionID { state.withLock { $0.session } }
  /// Its files.
  public var files: SessionFiles { state.withLock { $0.files } }

  package let home: Home
  let appName: String
  let options: RecordingOptions
  let machine: Machine
  let writing: LiveLog.Write
  let scenarios: ScenarioSwitch
  let state: Guarded<State>
  let compressor: PartCompressor

  struct State: ~Copyable {
    var files: SessionFiles
    var reserve: Reserve
    var appender: LogAppender
    /// Nil without a limit.
    var room: DiskQuota?
    var lock: FileLock?
    var sidecar: Sidecar
    /// For a session recorded as raw output, these are computed at the seal.
    var statistics = LogStatistics()
    var unfinished = UnfinishedLines()
    var lastSync: Timestamp
    var isDirty = false
    var activity = SessionActivity()
    /// The live log's length at the last check.
    var length: Int64 = 0
    var prefixTime: (milliseconds: Int64, bytes: [UInt8]) = (.min, [])
    /// Reused for assembling records, so that a record allocates no memory.
    var buffer: [UInt8] = []
    /// Gates of the scenarios that have occurred or were declared.
    var gates: [ScenarioName: ScenarioGate] = [:]
    /// Whether its files are gone, and it could not be continued yet.
    var isAdrift = false

    var session: SessionID { sidecar.sessionId }

    /// A time as written in records.
    mutating func prefix(_ time: Timestamp) -> [UInt8] {
      if prefixTime.milliseconds != time.milliseconds {
        prefixTime.milliseconds = time.milliseconds
        prefixTime.bytes.removeAll(keepingCapacity: true)
        time.appendISO(to: &prefixTime.bytes)
      }
      return prefixTime.bytes
    }
  }

  /// Creates a session.
  ///
  /// - Parameters:
  ///   - home: the home.
  ///   - device: this device.
  ///   - appName: the program's name.
  ///   - appVersion: its version, if known.
  ///   - options: how it is recorded.
  ///   - machine: identifies this process as the recorder; its clock times the records.
  ///   - writing: replaces the system's write, for tests of a full disk.
  /// - Throws: ``SystemError`` if the session cannot be created.
  public init(
    home: Home, device: Device, appName: String, appVersion: String? = nil,
    options: RecordingOptions = RecordingOptions(), machine: Machine,
    writing: (@Sendable (Int32, UnsafeRawBufferPointer) -> Int)? = nil
  ) throws {
    let write = writing ?? systemWrite
    let new = try NewSession(in: home, options, on: machine, writing: write) { session, start in
      var sidecar = Sidecar(
        id: session, device: device, appName: appName, appVersion: appVersion,
        recorder: machine.recorder(), startedAt: start)
      sidecar.format = options.format
      sidecar.continues = options.continues
      sidecar.consent = options.consent
      return sidecar
    }
    let start = new.sidecar.startedAt
    self.home = home
    self.appName = appName
    self.options = options
    self.machine = machine
    self.writing = write
    compressor = PartCompressor(options.format)
    scenarios = ScenarioSwitch(home, machine: machine)
    state = Guarded(
      State(
        files: new.files, reserve: Reserve(new.files.reserve),
        appender: LogAppender(new.log, options.format),
        lock: new.lock, sidecar: new.sidecar, lastSync: start))
    append(startText, at: start)
    declare(options.scenarios)
    // The quota does not apply to the start record.
    let room = options.localMax.map { DiskQuota(home, limit: $0, at: start) }
    state.withLock { $0.room = room }
  }

  // Once the session is unlocked, it changes no file of it.
  deinit { compressor.wait() }

  /// Changes the sidecar's description of the program, its user and its device.
  ///
  /// - Parameter body: changes descriptive fields; status, times and figures are the writer's.
  /// - Throws: ``SystemError`` if the sidecar cannot be written; the change persists in memory, and
  ///   is written with the next one or at the end.
  package func describe(_ body: @Sendable (inout Sidecar) -> Void) throws {
    let time = machine.now()
    try state.withLock { state in
      body(&state.sidecar)
      state.sidecar.lastUpdatedAt = time
      // A power failure may restore the former description, which the end replaces.
      try state.sidecar.saveForNow(state.files.sidecar)
    }
  }

  /// Activity since the last call.
  public func takeActivity() -> SessionActivity {
    state.withLock { state in
      // Other processes write as well, and a rotation shortens the log.
      let length = (try? FileStatus(state.files.log))??.length ?? 0
      var activity = state.activity
      activity.hasGrown = length != state.length
      state.length = length
      state.activity = SessionActivity()
      return activity
    }
  }

  // MARK: Timed work

  /// The time until ``tick()`` must be called.
  public var nextTick: Duration {
    state.withLock { $0.unfinished.isEmpty ? .seconds(1) : min(.seconds(1), options.patience) }
  }

  /// Does timed work: writes lines that have waited too long for their end, syncs, updates the
  /// scenarios' gates, and checks that the session's files are in place.
  ///
  /// Call it about once a second, and earlier if ``nextTick`` says so.
  public func tick() {
    let time = machine.now()
    continueIfLost(at: time)
    turnGates(at: time)
    // Many files may have to be measured: do that outside the lock.
    var room = state.withLock { $0.room }
    room?.measure(at: time)
    state.withLock { state in
      if state.unfinished.hasOverdue(at: time, patience: options.patience) {
        flushUnfinished(time, &state)
      }
      if state.room != nil { state.room = room }
      state.appender.isOverQuota = state.room?.isUsedUp ?? false
      if state.appender.missing > 0 { _ = state.appender.closeGap(time: time) }
      if !options.leavesDiskToTick { syncIfDue(highest: .trace, time, &state) }
    }
    if options.leavesDiskToTick { tendDisk(at: time) }
  }

  /// Syncs and rotates while others write.
  private func tendDisk(at time: Timestamp) {
    let isDirty = state.withLock { state in
      defer { state.isDirty = false }
      return state.isDirty
    }
    // Sync through a second descriptor, so that writers do not wait.
    if isDirty, options.fsync != .never,
      (try? OpenFile(files.log).synchronize()) == nil
    {
      state.withLock { $0.isDirty = true }
    }
    let hasRotated = state.withLock { state in
      state.appender.log.tend()
      return state.appender.log.takeRotation()
    }
    guard hasRotated else { return }
    try? AtomicFile.syncDirectory(of: files.log)
    compressor.compress(files)
  }

  // MARK: A process that writes its own session

  /// Whether a record could be written now; false if the calling thread was interrupted while
  /// writing one.
  package func isAvailable(within limit: Duration) -> Bool { state.isAvailable(within: limit) }

  /// Prevents other threads from writing while the process forks.
  package func lockForFork() { state.lockForFork() }

  /// Allows writing again, in the parent and in the child.
  package func unlockAfterFork() { state.unlockAfterFork() }
}

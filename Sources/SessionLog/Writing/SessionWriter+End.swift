import LogRecords
import Platform
import Redaction

/// Ends a session, or continues it in another when its files are gone or its log was truncated.
extension SessionWriter {
  /// Ends the session: its last record, the sidecar, the lock.
  ///
  /// The marker remains for the uploader. If the session's files are gone, and no other session
  /// could begin, only the number of bytes lost is reported; as it is if the disk is too full to say
  /// in the log what that lacks.
  ///
  /// - Parameters:
  ///   - cause: how the program ended.
  ///   - core: the path of its core dump; nil if there is none.
  /// - Throws: ``SystemError`` if the sidecar cannot be written; the end record is in the log
  ///   nevertheless, and any other process reaches the same verdict.
  public func end(_ cause: ExitCause, core: String? = nil) throws {
    continueIfLost(at: machine.now())
    state.withLock { state in
      // Free the reserved space for the last records and the sidecar.
      if !state.isAdrift { state.reserve.release() }
      // The quota does not apply to the end record.
      state.room = nil
      state.appender.isOverQuota = false
      flushUnfinished(machine.now(), &state)
      _ = state.appender.closeGap(time: machine.now())
    }
    recordLeftOut(at: machine.now())
    append(
      EndRecord.start + cause.description, EndRecord.level(of: cause), at: machine.now())
    let end = machine.now()
    compressor.finish(files)
    let (loss, saved): (String?, Result<Void, any Error>) = state.withLock { state in
      defer { state.lock = nil }
      guard !state.isAdrift else { return (lossText(state), .success(())) }
      _ = state.appender.log.synchronize()
      if let extent = try? RecordedLog(state.files).extent() {
        state.sidecar.fileSizeBytes = ByteCount(extent.end)
      }
      state.sidecar.status = cause.status
      state.sidecar.cause = cause
      state.sidecar.crash = core.map { Sidecar.Crash(core: $0) }
      state.sidecar.endedAt = end
      state.sidecar.lastUpdatedAt = end
      state.sidecar.categories = state.statistics.categoryNames
      state.sidecar.scenarios = state.statistics.scenarioNames
      state.sidecar.levels = state.statistics.levelCounts
      let loss = state.appender.gapText.map { "session \(state.session) lacks its last \($0)" }
      return (loss, Result { try state.sidecar.save(state.files.sidecar) })
    }
    if let loss { options.report?(loss) }
    try saved.get()
  }

  // MARK: Continuation

  /// Begins a new session if the log or its lock was deleted or replaced, as when somebody removes
  /// the home or restores it from a backup, or if the log was truncated.
  ///
  /// What was written since the files were last found in place becomes the new session's beginning.
  /// If no session can be created, records stay in the file without a name, and the next call tries
  /// again.
  func continueIfLost(at time: Timestamp) {
    let (line, scenarios): (String?, [ScenarioName]) = state.withLock { state in
      guard state.lock != nil, Self.isLost(&state) else { return (nil, []) }
      let former = state.session
      let loss =
        "the log of session \(former) was "
        + (state.appender.log.isCut ? "truncated" : "deleted or replaced")
      let deletion: String?
      do {
        deletion = try continueElsewhere(time, &state)
      } catch {
        defer { state.isAdrift = true }
        guard !state.isAdrift else { return (nil, []) }
        return (
          "\(loss), and no other session can begin in \(home.path): \(error); trying again every "
            + "second", []
        )
      }
      return (
        (deletion ?? loss)
          + "; recording continues as session \(state.session) in \(home.path)",
        Array(state.gates.keys)
      )
    }
    // Not under the lock: the message may go through a pipe that this process reads.
    if let line { options.report?(line) }
    declare(scenarios)
  }

  private static func isLost(_ state: inout State) -> Bool {
    do {
      if try state.lock?.isInPlace() == true, try !state.appender.log.isLost() {
        state.isAdrift = false
        return false
      }
      return true
    } catch {
      // Unknown: the next call looks again.
      return false
    }
  }

  /// - Returns: how much went with a session that was deleted on purpose; nil for any other.
  private func continueElsewhere(_ time: Timestamp, _ state: inout State) throws -> String? {
    let former = (session: state.session, files: state.files)
    let isDeleted = isDeleted(former.session)
    var sidecar = state.sidecar
    let new = try NewSession(in: home, options, on: machine, writing: writing) { session, start in
      sidecar.deviceId = try Device.load(home, on: machine).deviceId
      sidecar.continues = sidecar.sessionId
      sidecar.sessionId = session
      sidecar.fileName = "\(session).log"
      (sidecar.startedAt, sidecar.lastUpdatedAt) = (start, start)
      return sidecar
    }
    options.moved?(former.files.log, new.files.log)
    state.sidecar = sidecar
    state.files = new.files
    state.lock = new.lock
    state.reserve = Reserve(new.files.reserve)
    state.statistics = LogStatistics()
    state.isAdrift = false
    var appender = LogAppender(new.log, options.format)
    swap(&appender, &state.appender)
    if options.format == .lines {
      append(.info, Self.ownCategory, startText, at: time, &state)
      // An upload may have sent them before the loss, and the former files may come back.
      let again = appender.log.unplaced
      if !isDeleted, again > 0 {
        append(
          .info, Self.ownCategory,
          "CONTINUES \(former.session): the next \(again) bytes may be at its end, too", at: time,
          &state)
      }
    }
    var statistics = state.statistics
    // A session that was deleted on purpose does not return under another id.
    if !isDeleted { state.appender.takeOver(appender, at: time) { statistics.add($0) } }
    statistics.finish()
    state.statistics = statistics
    state.isDirty = true
    // Without its marker no pass would find the former session before the next review.
    if !isDeleted, File.exists(former.files.log) { try? home.mark(former.session) }
    // What was written since the log was last in place begins the new session, unless it was cut off.
    let (base, placed, isCut) = (appender.log.base, appender.log.placed, appender.log.isCut)
    let length = ByteCount(isCut ? max(placed, appender.log.reached) : placed)
    Self.end(former.files, having: isDeleted ? nil : base.map { $0 + length }, at: time)
    guard isDeleted else { return nil }
    let bytes = ByteCount(appender.unplaced).text
    return "session \(former.session) was deleted, and \(bytes) of the last second with it"
  }

  private func isDeleted(_ session: SessionID) -> Bool {
    let entries = (try? DeletionLedger(home).entries { $0 == session }) ?? []
    return entries.contains { $0.copy == .local && $0.what == "log" && $0.failure == nil }
  }

  /// States in the sidecar of a session that it has ended, if its files are still there, or there
  /// again: else it would pass for a crashed one.
  ///
  /// - Parameter length: how much of its log there was, so that what was not sent of it is named; nil
  ///   if that is unknown.
  private static func end(_ files: SessionFiles, having length: StreamOffset?, at time: Timestamp) {
    // Do not create a missing lock file: without a marker it would never be removed.
    guard File.exists(files.marker) || File.exists(files.lock),
      let lock = try? FileLock.shared(files.lock),
      var sidecar = try? Sidecar.load(files.sidecar), sidecar.status == .active
    else { return }
    sidecar.status = .terminated
    (sidecar.endedAt, sidecar.lastUpdatedAt) = (time, time)
    if let length { sidecar.fileSizeBytes = max(sidecar.fileSizeBytes, length.byteCount) }
    // If this fails, the session waits for the end of this process.
    try? sidecar.save(files.sidecar)
    withExtendedLifetime(lock) {}
  }

  /// The text of the first record.
  ///
  /// A terminal sequence inside a secret must not become text that hides it from redaction.
  var startText: String {
    "SESSION START app=\(RecordText.name(String(withoutTerminalSequences: appName)))"
  }

  /// Reports bytes that are in no file, at the end of a session that could not be continued.
  func lossText(_ state: borrowing State) -> String {
    "the last \(state.appender.unplaced) bytes of session \(state.session) are in no file: its log "
      + "was deleted, replaced or truncated, and no other session could begin in \(home.path)"
  }
}

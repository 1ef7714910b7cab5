import Dispatch
import LogRecords
import Platform

/// Ends a session.
extension SessionWriter {
  /// Ends the session: its last record, the sidecar, the lock.
  ///
  /// The marker remains for the uploader. If the session's files are gone, and no other session
  /// could begin, only the number of bytes lost is reported.
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
      flushPartial(machine.now(), &state)
      _ = state.appender.closeGap(time: machine.now())
    }
    recordLeftOut(at: machine.now())
    append(
      EndRecord.start + cause.description, EndRecord.level(of: cause), at: machine.now())
    let end = machine.now()
    if let compression { compression.sync { compressParts() } } else { compressParts() }
    let loss: String? = try state.withLock { state in
      defer { state.lock = nil }
      guard !state.isAdrift else { return lossText(state) }
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
      try state.sidecar.save(state.files.sidecar)
      return nil
    }
    if let loss { options.report?(loss) }
  }
}

import Dispatch
import LogRecords
import Platform

/// Handles written records: syncing, rotation, and timed work.
extension SessionWriter {
  /// The time until ``tick()`` must be called.
  public var nextTick: Duration {
    state.withLock { $0.partial.isEmpty ? .seconds(1) : min(.seconds(1), options.patience) }
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
      if hasOverdueLine(at: time, state) { flushPartial(time, &state) }
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
    compressParts()
  }

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
      if state.appender.log.takeRotation() {
        if let compression {
          // It must not keep the writer, and thereby the session's lock, once nobody else does.
          compression.async { [files = state.files, format = options.format] in
            try? files.compressParts(format: format)
          }
        } else {
          compressParts(of: state.files)
        }
      }
    }
    if !options.leavesDiskToTick || options.fsync == .always {
      syncIfDue(highest: highest, time, &state)
    }
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
    // A failing sync adds nothing to what the write reported; the next one tries again.
    if state.appender.log.synchronize() { state.isDirty = false }
    state.lastSync = time
  }

  /// Compresses parts; one that fails, for example on a full disk, is read plain, and retried after
  /// the next rotation, at the end, and by the uploader.
  func compressParts() { compressParts(of: files) }

  private func compressParts(of files: SessionFiles) {
    try? files.compressParts(format: options.format)
  }
}

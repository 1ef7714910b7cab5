import CLastRecord
import Platform
import SessionLog

/// Writes a last record when the process ends by a signal, a trap or `exit`.
enum LastRecord {
  /// The session of this process; handlers can capture nothing.
  private static let current = Guarded<LogSession?>(nil)
  private static let forkHandlers = Guarded(false)

  /// Watches a session until ``release(_:)``.
  static func watch(_ session: LogSession, catchesSignals: Bool) {
    guard let writer = session.writer else { return }
    current.withLock { $0 = session }
    _ = writer.files.log.withCString { clastrecord_start($0, catchesSignals ? 1 : 0) }
    _ = clastrecord_at_exit { status in
      LastRecord.end(LastRecord.current.withLock { $0 }, exiting: status)
    }
    let isFirst = forkHandlers.withLock { known in
      defer { known = true }
      return !known
    }
    guard isFirst else { return }
    _ = clastrecord_at_fork(
      { LastRecord.current.withLock { $0 }?.writer?.lockForFork() },
      { LastRecord.current.withLock { $0 }?.writer?.unlockAfterFork() },
      { LastRecord.current.withLock { $0 }?.writer?.unlockAfterFork() })
  }

  /// Changes the log to write to, if it is the watched one.
  static func move(from former: String, to log: String) {
    _ = former.withCString { former in log.withCString { clastrecord_move(former, $0) } }
  }

  /// Stops watching a session that has ended.
  static func release(_ session: LogSession) {
    let isCurrent = current.withLock { current in
      guard current === session else { return false }
      current = nil
      return true
    }
    if isCurrent { _ = clastrecord_start("", 0) }
  }

  /// How long to wait for a thread that is writing.
  private static let exitPatience = Duration.seconds(1)

  private static func end(_ session: LogSession?, exiting status: Int32) {
    // A forked child shares the session but must not end it.
    guard let session, let writer = session.writer,
      session.machine.processId == Machine.processIdNow
    else { return }
    guard writer.isAvailable(within: exitPatience) else {
      _ = clastrecord_end(status)
      return
    }
    session.end(.exit(status))
  }
}

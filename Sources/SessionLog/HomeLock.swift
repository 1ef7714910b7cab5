package import Platform

/// The right to send and delete a home's sessions, which one process has at a time.
///
/// Executors require this value as an argument: code that sends sessions, or deletes bytes of them,
/// cannot run during an upload. Planning changes nothing that a pass may be changing, and does not need
/// it. The kernel releases the lock with the last copy of the value, or with the process.
public struct HomeLock: Sendable {
  /// The home that it locks.
  public let home: Home
  private let lock: FileLock
  /// Attempts to acquire it while others may only ask who has it.
  private static let attempts = 100

  /// Acquires the lock of a home; nil if another process, or another part of this one, has it.
  ///
  /// - Throws: ``Platform/SystemError``.
  public static func acquire(_ home: Home) throws -> HomeLock? {
    // One that only asks who has it, see ``isTaken(_:)``, keeps nobody away.
    for _ in 1..<attempts {
      if let lock = try acquireNow(home) { return lock }
    }
    return try acquireNow(home)
  }

  private static func acquireNow(_ home: Home) throws -> HomeLock? {
    try FileLock.tryExclusive(home.lockPath).map { lock in
      // A process that finds the lock taken can say since when.
      lock.recordTime()
      return HomeLock(home: home, lock: lock)
    }
  }

  /// When the process that has the lock of a home acquired it, if that was longer ago than a limit.
  ///
  /// The home's user can set that time, but not to one before this boot, which ended all locks.
  ///
  /// - Parameters:
  ///   - home: the home.
  ///   - limit: the age of a lock that is of interest.
  ///   - now: the time.
  ///   - uptime: how long ago the machine has started.
  /// - Returns: nil if the lock is free, or was acquired later, or this cannot be found out.
  package static func holder(
    of home: Home, forLongerThan limit: Duration, at now: Timestamp, up uptime: Duration
  ) -> Timestamp? {
    guard let status = try? FileStatus(home.lockPath), status.kind == .file else { return nil }
    // A time in the future says nothing: count from now.
    if status.modifiedAt > now { FileLock.recordTime(of: home.lockPath) }
    let since = max(status.modifiedAt, now - uptime)
    guard now - since > limit else { return nil }
    // Only now: an upload that begins during this call finds the lock taken.
    return isTaken(home) ? since : nil
  }

  /// Whether a process has the lock of a home, or a shared one, which keeps uploads away, too; false
  /// if this cannot be found out.
  private static func isTaken(_ home: Home) -> Bool {
    // Others that ask at the same moment have it for a few microseconds.
    for _ in 0..<attempts {
      do {
        guard try FileLock.tryExclusive(home.lockPath) == nil else { return false }
      } catch {
        return false
      }
    }
    return true
  }

  /// Stops the program if the lock belongs to another home: it would protect nothing.
  package func expect(_ home: Home) {
    precondition(home == self.home, "the lock of \(self.home.path) is used for \(home.path)")
  }
}

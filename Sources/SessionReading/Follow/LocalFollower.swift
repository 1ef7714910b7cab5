import Foundation
import Platform
import Replica
package import SessionLog

/// Follows a session on this machine, across rotations.
///
/// Each check opens the log again, including its parts: so bytes that have moved from the live log
/// to a compressed part are still found.
package final class LocalFollower: StreamFollower {
  private let local: LocalSession
  private let context: ReadingContext
  private var log: LocalStream?
  private var end: StreamOffset?
  /// When it was last determined whether the session is still being written.
  private var examined: Timestamp?

  /// Time between these checks, which take the session's lock for a moment.
  private static let patience = Duration.seconds(5)

  /// Follows a session of a home.
  package init(_ session: SessionID, _ context: ReadingContext) {
    local = LocalSession(context.home, session)
    self.context = context
  }

  /// See ``StreamFollower/poll()``.
  package func poll() throws -> StreamGrowth {
    // In this order, so that everything written before the end is seen.
    let (sidecar, _) = try local.sidecar(device: context.device)
    let ending = try ending(sidecar)
    guard let log = try local.openLog(sidecar.source) else {
      throw LookupError(.gone, local.session.description)
    }
    let range = try log.available()
    self.log = log
    // A growing log has a writer.
    if let end, range.upperBound != end { examined = context.now() }
    end = range.upperBound
    return StreamGrowth(range: range, ending: ending, isRewritten: false)
  }

  /// Reads a range that the last check found.
  package func read(_ range: Range<Int64>) throws -> [UInt8] { try log?.read(Range(range)) ?? [] }

  private func ending(_ sidecar: Sidecar) throws -> StreamGrowth.Ending? {
    if sidecar.status != .active {
      return StreamGrowth.Ending(status: sidecar.status, cause: sidecar.cause)
    }
    let time = context.now()
    if let examined, time - examined < Self.patience { return nil }
    examined = time
    guard local.hasSidecar, let lock = try FileLock.tryExclusive(local.files.lock) else {
      return nil
    }
    defer { withExtendedLifetime(lock) {} }
    let modified = try local.openLog(sidecar.source)?.status().modified ?? sidecar.lastUpdatedAt
    let verdict = try Verdict.reach(
      sidecar: sidecar, files: local.files, lockGranted: true, machine: context.machine, now: time,
      logModified: modified)
    return verdict.map { StreamGrowth.Ending(status: $0.status, cause: $0.cause) }
  }
}

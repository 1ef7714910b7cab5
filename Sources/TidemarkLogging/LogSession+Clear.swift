import Platform
import SessionLog

/// Deletes local sessions.
extension LogSession {
  /// Another process is uploading the home's sessions, or deleting some.
  public struct HomeInUse: Error, Sendable, CustomStringConvertible {
    /// One line for a person.
    public let description: String

    init(_ home: String) {
      description = "cannot clear the log: another process uploads from \(home); try again later"
    }
  }

  /// Deletes the program's ended sessions from this machine, at its user's request.
  ///
  /// Copies in a store stay, and so does the running session. Sessions kept with `tidemark keep`,
  /// and those of other programs, are not touched.
  ///
  /// - Parameter patience: how long to wait for an upload of the same home to end.
  /// - Returns: the number of deleted sessions.
  /// - Throws: ``NotRecorded`` if there is no session; ``HomeInUse``; `CancellationError`;
  ///   `SystemError` if a session cannot be deleted, after the others have been.
  @discardableResult
  public func clear(waiting patience: Duration = .seconds(10)) async throws -> Int {
    try await clear(waiting: patience) { try await Task.sleep(for: $0) }
  }

  func clear(
    waiting patience: Duration, pausing: @Sendable (Duration) async throws -> Void
  ) async throws -> Int {
    guard let writer else { throw NotRecorded(problem, "clear") }
    let home = writer.home
    let app = try Sidecar.load(writer.files.sidecar).appName
    guard let lock = try await HomeLock.acquire(home, within: patience, pausing: pausing) else {
      throw HomeInUse(home.path)
    }
    let (deleted, failure) = try home.deleteEnded(
      of: app, but: hasEnded ? nil : writer.session, command: "LogSession.clear()",
      on: machine, holding: lock)
    if let failure { throw failure }
    return deleted
  }
}

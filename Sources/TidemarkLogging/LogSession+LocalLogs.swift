public import LogRecords
import Platform
public import Redaction
public import SessionLog

/// Exports logs of the program's home, and deletes ended sessions.
extension LogSession {
  /// An operation failed because the program has no session.
  public struct NotRecorded: Error, Sendable, CustomStringConvertible {
    /// One line for a person.
    public let description: String

    /// Describes the failure.
    ///
    /// - Parameters:
    ///   - problem: why there is no session.
    ///   - what: the operation, as a verb.
    package init(_ problem: (any Error)?, _ what: String) {
      let why = problem.map { ": \($0)" } ?? ""
      description = "cannot \(what) the session: it is not recorded\(why)"
    }
  }

  /// Another process is uploading the home's sessions, or deleting some.
  public struct HomeInUse: Error, Sendable, CustomStringConvertible {
    /// One line for a person.
    public let description: String

    init(_ home: String) {
      description = "cannot clear the log: another process uploads from \(home); try again later"
    }
  }

  /// Writes one file for a problem report: a header with the session's origin, then its log.
  ///
  /// Secrets and private values are masked, as in an upload. The file gets its name when it is
  /// complete. Other threads may write records meanwhile.
  ///
  /// ```swift
  /// try session.export(to: "/tmp/kiosk.txt", filter: RecordFilter(levels: .from(.info)))
  /// ```
  ///
  /// - Parameters:
  ///   - path: the file.
  ///   - filter: the records to include.
  ///   - id: another session of the home, such as ``Tidemark/previousSession``; nil for this one.
  ///   - rules: the rules that mask secrets.
  /// - Throws: ``NotRecorded`` if there is no session; `SystemError`; `SidecarError`;
  ///   `RedactionError`.
  public func export(
    to path: String, filter: RecordFilter = RecordFilter(), session id: SessionID? = nil,
    rules: RedactionRules = RedactionRules()
  ) throws {
    guard let writer else {
      throw NotRecorded(problem, "export")
    }
    let files = writer.home.files(for: id ?? writer.session)
    let redactor = try Redactor(rules)
    let sidecar = try Sidecar.load(files.sidecar).remoteForm(redactedBy: redactor)
    let log = try RedactedReading(files, format: sidecar.format, redactor: redactor)
    var filter = filter
    try AtomicFile.write(to: path) { write in
      let header = Array((ExportHeader.text(of: sidecar) + ExportHeader.end).utf8)
      try header.withUnsafeBytes(write)
      try log.forEachPiece { piece in
        guard !filter.admitsAll else { return try write(piece) }
        var chosen: [UInt8] = []
        filter.add(piece) { chosen.append(contentsOf: $0.bytes) }
        try chosen.withUnsafeBytes(write)
      }
      var rest: [UInt8] = []
      filter.finish { rest.append(contentsOf: $0.bytes) }
      try rest.withUnsafeBytes(write)
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
    let (deleted, failure) = try EndedSessions(of: app, in: home).delete(
      but: hasEnded ? nil : writer.session, command: "LogSession.clear()",
      on: machine, holding: lock)
    if let failure { throw failure }
    return deleted
  }
}

public import LogRecords
import Platform
public import Redaction
public import SessionLog

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
      let header = Array((sidecar.header() + Sidecar.logMark).utf8)
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
}

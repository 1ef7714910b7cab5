package import LogRecords
package import SessionLog

/// Follows one session's stream as it grows.
package protocol StreamFollower: AnyObject, PositionedBytes {
  /// Looks how far the stream reaches now; reading goes that far.
  ///
  /// - Throws: ``LookupError`` when the session is gone; errors of the store and of local files.
  func look() async throws -> StreamGrowth
}

/// How far a stream reaches.
package struct StreamGrowth: Sendable, Equatable {
  /// What can be read, in stream bytes.
  package let range: Range<StreamOffset>
  /// How the session ended, all that was written before being in the range; nil while it may grow.
  package let ending: Ending?
  /// Whether the stream is another one than at the look before, under the same offsets.
  package let isRewritten: Bool

  /// How a session ended.
  package struct Ending: Sendable, Equatable, CustomStringConvertible {
    let status: SessionStatus
    let cause: ExitCause?
    /// Whether what was written last was not sent because of the consent.
    var isLogWithheld = false

    /// `CRASHED (signal 9 (SIGKILL))`.
    package var description: String {
      status.rawValue + (cause.map { " (\($0))" } ?? "")
        + (isLogWithheld ? "; its log was sent only so far (consent: metadata)" : "")
    }
  }
}

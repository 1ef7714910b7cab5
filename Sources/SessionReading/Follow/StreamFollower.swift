package import LogRecords
package import SessionLog

/// Follows one session's stream as it grows.
package protocol StreamFollower: AnyObject, PositionedBytes {
  /// Checks how far the stream extends now; reading is possible up to there.
  ///
  /// - Throws: ``LookupError`` if the session is gone; errors of the store and of local files.
  func poll() async throws -> StreamGrowth
}

/// The extent of a stream.
package struct StreamGrowth: Sendable, Equatable {
  /// The readable range, in stream bytes.
  package let range: Range<StreamOffset>
  /// How the session ended, if everything written before is in the range; nil while it may grow.
  package let ending: Ending?
  /// Whether the stream differs from that of the previous check, at the same offsets.
  package let isRewritten: Bool

  /// How a session ended.
  package struct Ending: Sendable, Equatable, CustomStringConvertible {
    let status: SessionStatus
    let cause: ExitCause?
    /// Whether the last part was not sent because of the consent.
    var isLogWithheld = false

    /// `crashed: SIGKILL (9)`, `ended: exit 0`.
    package var description: String {
      let how = cause.map { cause in
        guard case .signal(let number) = cause else { return "\(cause)" }
        let name = ExitCause.name(ofSignal: number)
        return name.hasPrefix("SIG") ? "\(name) (\(number))" : name
      }
      return (status == .crashed ? "crashed" : "ended") + (how.map { ": \($0)" } ?? "")
        + (isLogWithheld ? "; its log was sent only so far (consent: metadata)" : "")
    }
  }
}

import Platform
import SessionLog
import SessionReading
import Sync

extension ReadingContext {
  /// Looks sessions up; the error for a missing one says what this home did with it.
  func explaining<Result>(_ lookUp: () async throws -> Result) async throws -> Result {
    do {
      return try await lookUp()
    } catch let error as LookupError where error.code == .none {
      throw try explanation(of: error) ?? error
    }
  }

  /// Explains, from this home's records, where a session went that is neither local nor remote; nil
  /// without a record.
  private func explanation(of error: LookupError) throws -> Failure? {
    guard let wanted = try? ShortenedID(error.given), wanted.mayMeanSessions(of: device),
      try FileStatus(home.path) != nil
    else { return nil }
    let lived = try LivedClock(home: home, machine: machine)
    // What cannot be read explains nothing; 'restore' has named it already.
    let trashed = try Trash(home).sessions(at: lived.time.mark, skipping: { _ in })
      .keys.filter(wanted.matches)
    if let session = trashed.min() {
      return Failure(
        .usage,
        "\(session) is in the trash; 'tidemark restore \(session)' puts it back, and "
          + "'tidemark why \(session)' says why it went there")
    }
    let deletions = try DeletionLedger(home).entries(where: wanted.matches)
    guard let last = deletions.last(where: { $0.failure == nil }) else { return nil }
    return Failure(
      .usage,
      "\(last.session) was deleted; 'tidemark why \(last.session)' says when, and on what evidence"
    )
  }
}

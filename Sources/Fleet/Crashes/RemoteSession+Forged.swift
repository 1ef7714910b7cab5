import Platform
import Replica
import SessionLog

extension RemoteSession {
  /// Whether the names of its objects are not as its device leaves them: then they do not show how it
  /// ended, and its newest revision must be read.
  ///
  /// A device puts nothing after a seal but another one that ends no better, and no log without a
  /// revision except for the time between a session's first objects.
  ///
  /// - Parameter now: the time by the server's clock.
  func mayBeForged(at now: ServerTime) -> Bool {
    guard let revision else {
      let age = newest.map { now - $0 }
      return !segments.isEmpty && age.map { $0 >= Self.longestBeginning } ?? true
    }
    return revision.status != .crashed && revisions.contains { $0.status == .crashed }
      || revision.status == .active && revisions.contains { $0.status != .active }
  }

  /// How long a session may be without a revision.
  private static let longestBeginning = Duration.hours(1)
}

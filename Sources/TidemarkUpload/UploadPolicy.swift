import Platform
package import Sync

/// The configuration of a home's uploads.
package struct UploadPolicy: Sendable {
  /// Which sessions are looked at in spite of a pause after a failure.
  package var retryScope = RetryScope.due
  /// The logs of other programs that are sent too.
  package var sources: [LogSource] = []
  /// How long sessions are kept.
  package var retention = Retention()
  /// Whether this home looks once a day which of its remote copies have expired.
  package var reapsRemote = RemoteReaping.onceUsed
  /// Open sessions of this machine's other homes, as far as those came before this one.
  package var openElsewhere = OpenSessions.none
  /// Whether rotated parts of sessions that stay are looked at.
  package var prunes = true
  /// Whether a person sees what fails: then every failure is reported.
  package var isWatched = false
  /// How long nothing may reach the store before that is reported.
  package var staleAfter = Duration.hours(1)

  /// When a home takes care of the store's retention.
  package enum RemoteReaping: Sendable {
    /// Always.
    case always
    /// Once something of it has reached the store.
    case onceUsed
    /// Another home of the machine does it.
    case never
  }

  /// The defaults.
  package init() {}
}

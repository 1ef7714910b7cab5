import Platform
package import Sync

/// The configuration of a home's uploads.
package struct UploadPolicy: Sendable {
  /// Which sessions ignore retry backoff.
  package var retryScope = RetryScope.due
  /// The logs of other programs that are sent too.
  package var sources: [LogSource] = []
  /// How long sessions are kept.
  package var retention = Retention()
  /// Whether this home deletes its expired remote copies, once a day.
  package var reapsRemote = RemoteReaping.onceUsed
  /// Open sessions of those homes of this machine that were uploaded before this one.
  package var openElsewhere = OpenSessions.none
  /// Whether to delete old rotated parts of sessions that stay.
  package var prunes = true
  /// The time after which a pass leaves what it has not sent to the next one; nil to send all.
  package var sendingTime: Duration?
  /// Whether a person is watching: then every failure is reported.
  package var isWatched = false
  /// How long nothing may reach the store before its failure is reported.
  package var staleAfter = Duration.hours(1)
  /// How often the same failure is reported without a terminal: cron mails every report.
  package static let reportInterval = Duration.hours(1)

  /// When a home carries out the store's retention.
  package enum RemoteReaping: Sendable {
    /// Always.
    case always
    /// Once it has sent something to the store.
    case onceUsed
    /// Another home of the machine does it.
    case never
  }

  /// How long a pass of a repeated upload sends, before the next one begins with a new plan.
  package static let passTime = Duration.seconds(300)

  /// Limits the time of a pass, so that the next one continues, unless requests are limited.
  ///
  /// That limit is one of the whole upload, and ends it before long.
  ///
  /// - Parameter requests: maximum number of requests; nil for no limit.
  package mutating func limitTime(andRequests requests: Int?) {
    sendingTime = requests == nil ? Self.passTime : nil
  }

  /// The defaults.
  package init() {}
}

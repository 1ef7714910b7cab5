package import Platform

/// How long sessions are kept.
package struct Retention: Sendable, Equatable {
  /// Lived time since the end or the seal, whichever is later, after which a session's local files
  /// are deleted, once proven remote (7 days).
  package var local = Duration.days(7)
  /// Age at which a session's objects are deleted (30 days).
  package var remote = Duration.days(30)
  /// Maximum size of the home's sessions in bytes; above it, sealed sessions are deleted before
  /// their age.
  ///
  /// Nil: no limit.
  package var localMax: ByteCount?
  /// Space to free in any case, in bytes, by deleting sealed sessions before their age; for a full
  /// disk.
  ///
  /// Nil: none.
  package var room: ByteCount?
  /// Age at which local rotated parts, also of running sessions, are deleted once proven remote.
  ///
  /// Nil: never.
  package var pruneAfter: Duration?

  /// How long before a session's last copy expires to report it.
  ///
  /// Nil: never.
  package var warnBefore: Duration?
  /// Lived time for which deleted local copies stay in the trash, zero for none (7 days).
  package var trash = Duration.days(7)

  /// Age that a person named to replace ``local`` and ``remote``; nil if none.
  package var asked: Duration?
  /// Whether the server's clock alone decides the age of remote sessions, for homes whose lived
  /// time is too short.
  package var trustsServerClock = false
  /// Whether to carry out even plans that delete most sessions.
  package var isForced = false

  /// The default retention.
  package init() {}

  /// The same retention with an age that a person named.
  package func asking(_ age: Duration) -> Retention {
    var copy = self
    (copy.local, copy.remote, copy.asked) = (age, age, age)
    return copy
  }

  /// Whether ages count lived time; an age below a day that a person named uses the clocks.
  var countsLivedTime: Bool { asked.map { $0 >= .days(1) } ?? true }

  /// Age in days at which a lifecycle rule may delete an object.
  ///
  /// The reaper measures from a session's newest object, a lifecycle rule from each object by
  /// itself. So that a rule never deletes the beginning of a session whose end is still kept, an
  /// object has to live as long as the session ran, plus the retention.
  ///
  /// - Parameter longestSession: the longest duration of a session.
  package func lifecycleDays(longestSession: Duration) -> Int {
    func days(_ span: Duration) -> Int { Int((max(1, span.seconds) - 1) / 86_400) + 1 }
    return days(remote) + days(longestSession)
  }

  /// Age by server time below which an upload may still need objects that look superseded (7 days).
  package static let leftoverAge = Duration.days(7)
}

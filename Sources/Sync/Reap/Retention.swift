package import Platform

/// How long sessions are kept.
package struct Retention: Sendable, Equatable {
  /// Lived time since the later of end and seal after which a session's local files go, once proven
  /// remote (7 days).
  package var local = Duration.days(7)
  /// Age at which a session's objects go (30 days).
  package var remote = Duration.days(30)
  /// Bytes that the home's sessions may take; sealed sessions go before their age for it.
  ///
  /// Nil: any.
  package var localMax: ByteCount?
  /// Age at which rotated parts of sessions go here, of running ones too, once proven remote.
  ///
  /// Nil: none do.
  package var pruneAfter: Duration?

  /// How long before a session's last copy expires it is reported.
  ///
  /// Nil: not at all.
  package var warnBefore: Duration?
  /// Lived time for which deleted local copies are kept aside, zero for none (7 days).
  package var trash = Duration.days(7)

  /// Age that a person named in place of ``local`` and ``remote``; nil where none did.
  package var asked: Duration?
  /// Whether the age of remote sessions is taken by the server's clock alone, for homes that have
  /// not lived long enough to know better.
  package var trustsServerClock = false
  /// Whether also plans are carried out that remove most of what is there.
  package var isForced = false

  /// The defaults.
  package init() {}

  /// The same with an age that a person named.
  package func asking(_ age: Duration) -> Retention {
    var copy = self
    (copy.local, copy.remote, copy.asked) = (age, age, age)
    return copy
  }

  /// Whether ages count lived time; an age below a day that a person named goes by the clocks.
  var countsLivedTime: Bool { asked.map { $0 >= .days(1) } ?? true }

  /// Age in days at which a lifecycle rule may delete an object.
  ///
  /// The reaper counts from a session's newest object, a lifecycle rule from each object by itself:
  /// so that it never takes the beginning of a session whose end is still kept, an object has to
  /// live as long as the session went on, and then as long as sessions are kept.
  ///
  /// - Parameter longestSession: How long a session may go on.
  package func lifecycleDays(longestSession: Duration) -> Int {
    func days(_ span: Duration) -> Int { Int((max(1, span.seconds) - 1) / 86_400) + 1 }
    return days(remote) + days(longestSession)
  }

  /// Age by server time below which an upload may still need what looks superfluous (7 days).
  package static let leftoverAge = Duration.days(7)
}

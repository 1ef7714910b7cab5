import Platform
import SessionLog

/// A command that has had a home's lock for longer than `stale-after`.
///
/// Uploads of the home end without a word while another one runs. One that hangs, or has more to
/// read than it should, must not keep them silent.
struct LongPass {
  /// The home.
  let home: Home
  /// When the command began.
  let since: Timestamp

  /// Finds such a command; nil if there is none.
  ///
  /// - Parameters:
  ///   - home: the home.
  ///   - limit: how long a command may have the lock.
  ///   - now: the time.
  ///   - uptime: how long ago the machine has started.
  init?(
    _ home: Home, after limit: Duration, at now: Timestamp,
    up uptime: Duration = Machine.current.uptime()
  ) {
    guard let since = HomeLock.holder(of: home, forLongerThan: limit, at: now, up: uptime) else {
      return nil
    }
    (self.home, self.since) = (home, since)
  }

  /// A line for a person.
  func text(at now: Timestamp) -> String { Self.text(since: since, at: now, in: home.path) }

  /// A line for a person.
  static func text(since: Timestamp, at now: Timestamp, in path: String) -> String {
    "another upload, or another command that locks \(path), has run for \(Age.text(now - since)), and "
      + "nothing else is uploaded meanwhile; 'fuser -v \(path)/lock' names it; end it if it hangs"
  }

  /// Says so, once an hour unless somebody watches.
  func report(isWatched: Bool, at now: Timestamp) {
    guard isWatched || HourlyReport(home, .longPass).isDue("", at: now) else { return }
    let whose = home.owner.map { "\($0.name): " } ?? ""
    Console.complain(whose + text(at: now))
  }
}

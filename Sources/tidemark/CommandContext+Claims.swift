import Logging
import Platform
import SessionLog

/// Whose sessions are, where root sends those of all users; see ``SessionLog/SessionClaims``.
extension CommandContext {
  /// Claims a user's local sessions while this process has root's rights.
  static func claim(
    _ home: Home, onlyOpen: Bool, _ claims: SessionClaims, _ logger: Logger
  ) throws {
    do {
      // Those to be sent first.
      try claims.claim(sessions(of: home, onlyOpen: onlyOpen))
    } catch let error as SystemError where error.isNotFound || error.isDiskFull {
      logger.info("sessions in \(home.path) wait until they are claimed: \(error)")
    }
  }

  /// Looks up who has claimed a user's open sessions while this process has root's rights.
  ///
  /// If that fails, they count as unclaimed.
  static func lookUpClaims(of home: Home, in claims: SessionClaims) {
    try? claims.lookUp(sessions(of: home, onlyOpen: true))
  }

  /// The sessions in a user's home, those that are not sealed first.
  static func sessions(of home: Home, onlyOpen: Bool) throws -> [SessionID] {
    // Only the user's own rights may follow what is in the home.
    try home.owner?.assumeRights()
    let sessions = Swift.Result {
      try home.openSessions() + (onlyOpen ? [] : home.sessions())
    }
    try Account.resumeOwnRights()
    return try sessions.get()
  }
}

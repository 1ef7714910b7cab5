import Platform
package import SessionLog

/// Sessions that homes of this machine have not sealed.
///
/// Consulted before root deletes users' sessions from the store.
package struct OpenSessions: Sendable {
  private var sessions: Set<SessionID> = []
  /// Users whose homes could not be read.
  private var unknown: Set<String> = []

  /// No sessions, if there is no other home.
  package static let none = OpenSessions()

  /// Adds a home's sessions.
  ///
  /// The caller has the rights of the home's owner.
  package mutating func add(_ home: Home) {
    do {
      sessions.formUnion(try home.openSessions())
    } catch {
      addUnknown(home)
    }
  }

  /// Adds sessions that were found in a home.
  package mutating func add(_ sessions: [SessionID]) { self.sessions.formUnion(sessions) }

  /// Adds an unreadable home: each of its owner's sessions may be open.
  package mutating func addUnknown(_ home: Home) {
    unknown.insert(home.owner?.name ?? "")
  }

  /// Sessions in folders that are named like users' homes but belong to someone else.
  ///
  /// A home whose owner was changed by mistake still contains its user's sessions.
  ///
  /// - Parameter paths: the folders.
  package static func unknown(at paths: [String]) -> OpenSessions {
    var sessions = OpenSessions()
    for path in paths {
      sessions.unknown.insert(path.split(separator: "/").last.map(String.init) ?? "")
    }
    return sessions
  }

  /// Whether a session may be open.
  ///
  /// - Parameter user: the user who recorded it; nil if unknown.
  func mayHave(_ session: SessionID, of user: String?) -> Bool {
    sessions.contains(session) || user.map(unknown.contains) ?? !unknown.isEmpty
  }
}

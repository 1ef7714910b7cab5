import Platform
package import SessionLog

/// Sessions that homes of this machine have not sealed.
///
/// Where root deletes from the store what all users have sent, their homes are asked first.
package struct OpenSessions: Sendable {
  private var sessions: Set<SessionID> = []
  /// Users whose homes could not be read.
  private var unknown: Set<String> = []

  /// None, where there is no other home.
  package static let none = OpenSessions()

  /// Adds those of a home.
  ///
  /// The caller has the rights of the home's owner.
  package mutating func add(_ home: Home) {
    do {
      sessions.formUnion(try home.openSessions())
    } catch {
      addUnknown(home)
    }
  }

  /// Adds those that a home was found to have.
  package mutating func add(_ sessions: [SessionID]) { self.sessions.formUnion(sessions) }

  /// Adds a home that could not be read: each of its owner's sessions may be open.
  package mutating func addUnknown(_ home: Home) {
    unknown.insert(home.owner?.name ?? "")
  }

  /// Those of a machine's folders that are named like homes and are none of their users'.
  ///
  /// A home whose owner was changed by mistake still has its user's sessions.
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
  /// - Parameter user: who recorded it; nil where that is not known.
  func mayHave(_ session: SessionID, of user: String?) -> Bool {
    sessions.contains(session) || user.map(unknown.contains) ?? !unknown.isEmpty
  }
}

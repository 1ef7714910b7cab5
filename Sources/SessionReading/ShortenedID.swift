import Platform
package import SessionLog

/// A session's id as a person gives it: complete, its beginning, or the beginning of its last part.
package struct ShortenedID: Sendable {
  private let given: String
  /// The session, if the id is complete.
  let session: SessionID?

  /// Parses an id.
  ///
  /// - Throws: ``LookupError`` if it cannot be a session's.
  package init(_ given: String) throws {
    let allowed = given.utf8.allSatisfy {
      (0x61...0x7a).contains($0) || (0x30...0x39).contains($0) || $0 == 0x2d
    }
    guard allowed, !given.isEmpty else { throw LookupError(.notAnID, given) }
    self.given = given
    session = SessionID(given)
  }

  /// The day to search; nil for all days.
  var day: String? { session?.day }

  /// Whether it may mean a session.
  package func matches(_ id: SessionID) -> Bool {
    let whole = id.description
    return whole.hasPrefix(given) || whole.split(separator: "-").last?.hasPrefix(given) == true
  }

  /// The only one of several paths that it matches.
  ///
  /// - Throws: ``LookupError`` if there is none, or more than one.
  func choose(among paths: [String]) throws -> String {
    guard let first = paths.first else { throw LookupError(.none, given) }
    guard paths.count == 1 else { throw LookupError(.several(paths.count), given) }
    return first
  }

  /// The only session that it matches.
  ///
  /// - Returns: nil if there is none.
  /// - Throws: ``LookupError`` if there is more than one.
  func choose(from entries: [SessionCatalog.Entry]) throws -> SessionCatalog.Entry? {
    let matching = entries.filter { session == nil ? matches($0.session) : $0.session == session }
    guard let first = matching.first else { return nil }
    guard matching.count == 1 else { throw LookupError(.several(matching.count), given) }
    return first
  }
}

/// Why an id given by a person matches no session.
package struct LookupError: Error, Sendable, CustomStringConvertible {
  /// The kind.
  package enum Code: Sendable, Equatable {
    /// It cannot be a session's id: it contains another character than `a-z 0-9 -`.
    case notAnID
    /// No session has it.
    case none
    /// This many sessions begin with it.
    case several(Int)
    /// It existed before.
    case gone
  }

  /// The kind.
  package let code: Code
  /// The id as it was given.
  package let given: String

  init(_ code: Code, _ given: String) {
    self.code = code
    self.given = given
  }

  /// No session has an id.
  package static func none(_ given: String) -> LookupError { LookupError(.none, given) }

  /// One line for a person, with the next step.
  package var description: String {
    let shown = String(oneLine: given, limit: 80)
    return switch code {
    case .notAnID:
      "'\(shown)' is not a session id; 'tidemark list' shows them (20260122t143005z-k3f9a7c2)"
    case .none:
      "no session '\(shown)'; 'tidemark list --all' shows all, and 'tidemark why \(shown)' what was "
        + "deleted"
    case .gone: "\(shown) is gone: it was deleted meanwhile"
    case .several(let count): "'\(shown)' is the start of \(count) session ids; give more of it"
    }
  }
}

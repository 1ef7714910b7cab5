import Platform
package import Replica
package import SessionLog

/// A session's id as a person gives it: complete, its beginning, or the beginning of its last part;
/// after a device's id and a slash where several devices have the session.
package struct ShortenedID: Sendable {
  private let given: String
  /// The part after the device.
  private let id: String
  /// The id of the device that must have the session; nil for any.
  package let device: String?
  /// The session, if the id is complete.
  let session: SessionID?

  /// Parses an id.
  ///
  /// - Throws: ``LookupError`` if it cannot be a session's.
  package init(_ given: String) throws {
    let slash = given.utf8.firstIndex(of: UInt8(ascii: "/"))
    let device = slash.map { String(given[..<$0]) }
    let id = slash.map { String(given[given.utf8.index(after: $0)...]) } ?? given
    let allowed = id.utf8.allSatisfy {
      (0x61...0x7a).contains($0) || (0x30...0x39).contains($0) || $0 == 0x2d
    }
    guard allowed, !id.isEmpty, device.map({ Device.isID($0) }) ?? true else {
      throw LookupError(.notAnID, given)
    }
    (self.given, self.id, self.device) = (given, id, device)
    session = SessionID(id)
  }

  /// The day to search; nil for all days.
  var day: String? { session?.day }

  /// Whether it may mean a session, of whichever device.
  package func matches(_ session: SessionID) -> Bool {
    guard self.session == nil else { return self.session == session }
    let whole = session.description
    return whole.hasPrefix(id) || whole.split(separator: "-").last?.hasPrefix(id) == true
  }

  /// Whether it may mean a session of a device.
  package func means(_ copy: DeviceSession) -> Bool {
    device ?? copy.device == copy.device && matches(copy.session)
  }

  /// Whether it may mean sessions of a home.
  package func mayMeanSessions(of own: Device) -> Bool {
    device.map { own.ids.contains($0) } ?? true
  }

  /// The only session that it matches.
  ///
  /// A local session is meant rather than another device's with the same id, and one that its device's
  /// key proves rather than one that it contradicts.
  ///
  /// - Parameter report: called with a line for a person about copies that count for less.
  /// - Returns: nil if there is none.
  /// - Throws: ``LookupError`` if there is more than one.
  func choose(
    from entries: [SessionCatalog.Entry], report: (String) -> Void
  ) throws -> SessionCatalog.Entry? {
    let matching = entries.filter { entry in
      // The home of a local session may have another id than it was recorded under.
      let recorded = DeviceSession(device: entry.sidecar.deviceId, session: entry.session)
      return means(entry.deviceSession) || entry.location != .remote && means(recorded)
    }
    try expectOneSession(matching.map(\.session))
    if let local = matching.first(where: { $0.location != .remote }) { return local }
    guard !matching.isEmpty else { return nil }
    let accepted = matching.filter { !$0.isRejected }
    let counting = accepted.isEmpty ? matching : accepted
    let chosen = try chooseOne(of: counting.map(\.deviceSession))
    for other in matching.map(\.deviceSession) where other != chosen {
      report(Self.text(passingOver: other))
    }
    return counting.first
  }

  /// Expects ids of one session at most.
  ///
  /// - Throws: ``LookupError`` if there are more.
  func expectOneSession(_ sessions: [SessionID]) throws {
    let count = Set(sessions).count
    guard count <= 1 else { throw LookupError(.several(count), given) }
  }

  /// The only one of several devices' sessions with one id.
  ///
  /// - Throws: ``LookupError`` if there is none, or more than one.
  func chooseOne(of copies: [DeviceSession]) throws -> DeviceSession {
    guard let first = copies.first else { throw LookupError(.none, given) }
    guard copies.count == 1 else {
      throw LookupError(.devices(copies.map(\.device).sorted(), first.session), given)
    }
    return first
  }

  /// A line about a copy that counts for less than another device's.
  static func text(passingOver copy: DeviceSession) -> String {
    "passed over: device \(String(oneLine: copy.device, limit: 80)) has a session \(copy.session) as "
      + "well, which nothing proves; '\(copy.name)' names it"
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
    /// These devices have the session.
    case devices([String], SessionID)
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

  /// Maximum number of devices to name.
  private static let mostNamed = 5

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
    case .devices(let devices, let session): Self.text(session, of: devices)
    }
  }

  private static func text(_ session: SessionID, of devices: [String]) -> String {
    let named = devices.prefix(mostNamed).map { String(oneLine: $0, limit: 80) }
      .joined(separator: ", ")
    let more = devices.count > mostNamed ? " and \(devices.count - mostNamed) more" : ""
    let example = DeviceSession(device: devices[0], session: session).name
    return "\(devices.count) devices have a session \(session): \(named)\(more); put the id of one "
      + "before it, as in '\(example)'"
  }
}

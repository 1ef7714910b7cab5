package import Platform

/// Which user each session is of, on a machine where root sends those of all users.
///
/// Session ids are not secret, and a user can create files under any id. So root records whose home
/// had a session first, before it sends anything of it; from then on no other home can send, seal or
/// clean up a session with that id. The record is in root's own home, where no user can read or
/// change it: a file for each day of sessions, with a line `<session> <user number>` for each, and
/// one for ids of days that cannot be.
package final class SessionClaims: Sendable {
  private let folder: String
  private let user: UInt32
  private let machine: Machine
  /// Whether a home of the machine may hold sessions of a day.
  private let isHeld: @Sendable (_ day: String) -> Bool
  /// The sessions looked up so far, and whether they are the user's.
  private let known = Guarded<[SessionID: Bool]>([:])
  /// Why sessions could not be claimed.
  private let problems = Guarded<[SessionID: SystemError]>([:])

  /// Maximum number of sessions that a home can claim at once: the others wait for the next upload.
  package static let most = 10_000
  /// Maximum number of sessions of one file that a user can claim: others read it, too.
  private static let mostOfDay = 100_000
  /// Age from which a day's record is deleted unless a home holds sessions of that day: for those
  /// that only the store has, their signed revisions state the user.
  private static let longest = Duration.days(800)
  /// The name of the file for ids that begin earlier than that and whose day has no record, or in the
  /// future.
  private static let otherDays = "other"

  /// - Parameters:
  ///   - folder: the record's folder, created if missing; only root may enter its parent.
  ///   - user: the user.
  ///   - machine: whose clock ends the record of a day.
  ///   - isHeld: whether a home of the machine may hold sessions of a day.
  package init(
    _ folder: String, of user: Account, on machine: Machine,
    keepingDays isHeld: @escaping @Sendable (String) -> Bool
  ) {
    (self.folder, self.user, self.machine) = (folder, user.id, machine)
    self.isHeld = isHeld
  }

  /// Claims sessions for the user, as far as no other has claimed them before; with root's rights.
  ///
  /// - Throws: ``SystemError``; the sessions of that day then remain unclaimed.
  package func claim(_ sessions: some Collection<SessionID>) throws {
    guard !sessions.isEmpty else { return }
    try Directory.makeOne(folder)
    var room = Self.most
    var failure: (any Error)?
    for (name, sessions) in files(of: sessions) {
      do {
        try claim(sessions, in: name, &room)
      } catch {
        failure = error
        guard let error = error as? SystemError else { continue }
        record(error, for: sessions)
      }
    }
    if let failure { throw failure }
  }

  /// Why a session could not be claimed; nil if it was, or if nothing was tried.
  package func problem(of session: SessionID) -> SystemError? {
    problems.withLock { $0[session] }
  }

  private func record(_ error: SystemError, for sessions: [SessionID]) {
    let unclaimed = known.withLock { known in sessions.filter { known[$0] == nil } }
    problems.withLock { problems in
      for session in unclaimed { problems[session] = error }
    }
  }

  /// Looks up who has claimed sessions, and claims none; with root's rights.
  ///
  /// - Throws: ``SystemError``.
  package func lookUp(_ sessions: some Collection<SessionID>) throws {
    for (name, sessions) in files(of: sessions) {
      record(try users(of: Set(sessions), in: [Self.otherDays, name]))
    }
  }

  /// The names of the files for some sessions.
  private func files(
    of sessions: some Collection<SessionID>
  ) -> [String: [SessionID]] {
    let now = machine.now()
    return Dictionary(grouping: sessions) { session in
      let age = now - session.startedAt
      let isUsual = age < Self.longest && age > .days(-1)
      return isUsual || File.exists("\(folder)/\(session.day)") ? session.day : Self.otherDays
    }
  }

  /// The users of some sessions; if files differ, the first one counts.
  private func users(
    of sessions: Set<SessionID>, in names: [String]
  ) throws -> [SessionID: UInt32] {
    try names.reduce(into: [:]) { users, name in
      let path = "\(folder)/\(name)"
      guard File.exists(path) else { return }
      let found = Self.users(in: try Self.content(of: path), of: sessions)
      users.merge(found) { first, _ in first }
    }
  }

  /// Whether a session is the user's, for whom it is claimed if nobody has yet; nil if it is
  /// unclaimed, and this process may not claim it.
  package func isOwn(_ session: SessionID) -> Bool? {
    if let isOwn = known.withLock({ $0[session] }) { return isOwn }
    try? claim([session])
    return known.withLock { $0[session] }
  }

  private func claim(_ sessions: [SessionID], in name: String, _ room: inout Int) throws {
    let path = "\(folder)/\(name)"
    let isNew = !File.exists(path)
    let file = try Descriptor(opening: path, [.readWrite, .create, .append])
    _ = try file.lock(.exclusive, waits: true)
    let bytes = try Self.content(of: path)
    // A write that a power failure or a full disk cut: its line says nothing.
    let whole = bytes.lastIndex(of: 0x0a).map { $0 + 1 } ?? 0
    if whole < bytes.count { try file.truncate(to: Int64(whole)) }
    // One that was claimed before its day had a record, or while it was in the future.
    let earlier = name == Self.otherDays ? [] : [Self.otherDays]
    var users = try users(of: Set(sessions), in: earlier)
    users.merge(Self.users(in: bytes, of: Set(sessions))) { first, _ in first }
    let end = Array(" \(user)".utf8)
    let own = bytes.split(separator: 0x0a).lazy.count { $0.suffix(end.count).elementsEqual(end) }
    var roomHere = Self.mostOfDay - own
    var lines: [UInt8] = []
    for session in sessions where users[session] == nil && min(room, roomHere) > 0 {
      users[session] = user
      lines += Array("\(session) \(user)\n".utf8)
      (room, roomHere) = (room - 1, roomHere - 1)
    }
    if !lines.isEmpty {
      try file.write(lines)
      try file.synchronize()
    }
    record(users)
    if roomHere <= 0 {
      let error = SystemError(
        operation: "record more than \(Self.mostOfDay) sessions of one day and user in",
        path: path, errno: SystemError.Number.notPermitted)
      record(error, for: sessions)
    }
    guard isNew else { return }
    // The day is durable with its name; a failure leaves old days to the next new one.
    try AtomicFile.syncDirectory(of: path)
    try? removeOldDays()
  }

  private func record(_ users: [SessionID: UInt32]) {
    known.withLock { known in
      for (session, owner) in users { known[session] = owner == user }
    }
  }

  private static func content(of path: String) throws -> [UInt8] {
    let file = try OpenFile(path)
    return try file.read(at: 0, count: Int(file.status().length))
  }

  /// The users of some sessions: the first line of a session counts.
  private static func users(
    in bytes: [UInt8], of wanted: Set<SessionID>
  ) -> [SessionID: UInt32] {
    var users: [SessionID: UInt32] = [:]
    let whole = bytes.lastIndex(of: 0x0a).map { bytes[..<$0] } ?? []
    for line in whole.split(separator: 0x0a) {
      let fields = line.split(separator: 0x20)
      guard fields.count == 2, let session = SessionID(String(decoding: fields[0], as: UTF8.self)),
        wanted.contains(session), users[session] == nil,
        let user = UInt32(String(decoding: fields[1], as: UTF8.self))
      else { continue }
      users[session] = user
    }
    return users
  }

  private func removeOldDays() throws {
    let now = machine.now()
    for name in try Directory.names(in: folder) {
      guard let start = Timestamp(iso: name + "T00:00:00Z"),
        now - start > Self.longest, !isHeld(name)
      else { continue }
      try File.remove("\(folder)/\(name)")
    }
  }
}

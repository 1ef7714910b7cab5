package import Platform

/// Which user each session is of, on a machine where root sends those of all users.
///
/// Session ids are not secret, and a user can create files under any id. So root records whose home
/// had a session first, before it sends anything of it; from then on no other home can send, seal or
/// clean up a session with that id. The record is in root's own home, where no user can read or
/// change it: a file for each day of sessions, with a line `<session> <user number>` for each.
package final class SessionClaims: Sendable {
  private let folder: String
  private let user: UInt32
  private let machine: Machine
  /// The sessions looked up so far, and whether they are the user's.
  private let known = Guarded<[SessionID: Bool]>([:])

  /// Maximum number of sessions that a home can claim at once: the others wait for the next upload.
  package static let most = 10_000
  /// Age from which a day's record is deleted, in days; retention has deleted its sessions.
  private static let longest: Int64 = 800

  /// - Parameters:
  ///   - folder: the record's folder, created if missing; only root may enter its parent.
  ///   - user: the user.
  ///   - machine: whose clock ends the record of a day.
  package init(_ folder: String, of user: Account, on machine: Machine = .current) {
    (self.folder, self.user, self.machine) = (folder, user.id, machine)
  }

  /// Claims sessions for the user, as far as no other has claimed them before; with root's rights.
  ///
  /// - Throws: ``SystemError``; the sessions of that day then remain unclaimed.
  package func claim(_ sessions: some Collection<SessionID>) throws {
    guard !sessions.isEmpty else { return }
    try Directory.makeOne(folder)
    let days = Dictionary(grouping: sessions.prefix(Self.most), by: \.day)
    for (day, sessions) in days { try claim(sessions, of: day) }
  }

  /// Looks up who has claimed sessions, and claims none; with root's rights.
  ///
  /// - Throws: ``SystemError``.
  package func lookUp(_ sessions: some Collection<SessionID>) throws {
    for (day, sessions) in Dictionary(grouping: sessions, by: \.day) {
      let path = "\(folder)/\(day)"
      guard File.exists(path) else { continue }
      record(Self.users(in: try Self.content(of: path), of: Set(sessions)))
    }
  }

  /// Whether a session is the user's; nil if nobody has claimed it, and this process may not.
  package func isOwn(_ session: SessionID) -> Bool? {
    if let isOwn = known.withLock({ $0[session] }) { return isOwn }
    try? claim([session])
    return known.withLock { $0[session] }
  }

  private func claim(_ sessions: [SessionID], of day: String) throws {
    let path = "\(folder)/\(day)"
    let isNew = !File.exists(path)
    let file = try Descriptor(opening: path, [.readWrite, .create, .append])
    _ = try file.lock(.exclusive, waits: true)
    let bytes = try Self.content(of: path)
    var users = Self.users(in: bytes, of: Set(sessions))
    // A write that was cut by a power failure ends without a newline.
    var lines: [UInt8] = bytes.last.map { $0 == 0x0a } ?? true ? [] : [0x0a]
    for session in sessions where users[session] == nil {
      users[session] = user
      lines += Array("\(session) \(user)\n".utf8)
    }
    if lines.count > 1 {
      try file.write(lines)
      try file.synchronize()
    }
    record(users)
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
    for line in bytes.split(separator: 0x0a) {
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
        now - start > .hours(24 * Self.longest)
      else { continue }
      try File.remove("\(folder)/\(name)")
    }
  }
}

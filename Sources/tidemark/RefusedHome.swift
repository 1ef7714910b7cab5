import Platform
import SessionLog

/// A folder that is named like a user's home but does not belong to that user, and what nobody sends
/// of it: its user was renamed or removed, or has another number now.
struct RefusedHome {
  let path: String
  /// Why it is refused.
  let reason: String
  /// Sessions in it that are not sealed.
  var sessions = 0
  /// Size of their logs on disk, without rotated parts: some of it may have been sent.
  var bytes: ByteCount = 0
  /// Whether there are such parts.
  var hasParts = false
  /// What gets them sent, or the folder out of the way.
  var remedy: String

  /// Maximum number of sessions to count: anybody may make such a folder, and put anything there.
  private static let mostSessions = 1000

  /// Maximum number of folders of one owner, and of all, to look into.
  private static let (mostOfOwner, mostOfAll) = (20, 500)

  /// The machine's, those with sessions to send first.
  ///
  /// - Throws: ``Platform/SystemError`` if root's rights cannot be resumed.
  static func all() throws -> [RefusedHome] {
    try all(MachineWide.homes().refused) { (try? FileStatus($0))?.owner }
  }

  /// Describes folders, those with sessions to send first.
  ///
  /// Any user may make many: of each owner a few are looked into, so that they do not hide another's.
  ///
  /// - Parameters:
  ///   - refused: their paths, and why they are refused.
  ///   - owner: the number of a folder's owner; nil if it is gone.
  /// - Throws: ``Platform/SystemError`` if root's rights cannot be resumed.
  static func all(
    _ refused: [(path: String, reason: String)], ownedBy owner: (String) -> UInt32?
  ) throws -> [RefusedHome] {
    var examined: [UInt32: Int] = [:]
    var total = 0
    return try refused.map { path, reason -> RefusedHome in
      guard let number = owner(path) else { return RefusedHome(path, because: reason) }
      guard examined[number, default: 0] < mostOfOwner, total < mostOfAll else {
        return RefusedHome(path, because: "\(reason); not looked into, because there are too many")
      }
      examined[number, default: 0] += 1
      total += 1
      return try RefusedHome(path, reason)
    }.sorted { $0.sessions > 0 && $1.sessions == 0 }
  }

  /// Describes a folder, without looking into it.
  init(_ path: String, because reason: String) {
    (self.path, self.reason) = (path, reason)
    remedy =
      "Move it away if it is not to stay; the next upload as root makes the home of the user that it "
      + "is named for"
  }

  private init(_ path: String, _ reason: String) throws {
    self.init(path, because: reason)
    guard let status = try? FileStatus(path), status.kind == .directory else { return }
    let owner = Account(id: status.owner)
    // The owner decides what is in it.
    do {
      try owner.assumeRights()
      let home = Home(path: path)
      let open = try Directory.names(in: home.openPath, atMost: Self.mostSessions)
        .compactMap(SessionID.init)
      // No folder is listed for a session: with many names in it, that would take hours.
      let sizes = open.compactMap { session -> ByteCount? in
        let files = home.files(for: session)
        let length = (try? FileStatus(files.log))?.length ?? 0
        let isRotated = File.exists(files.rotated)
        hasParts = hasParts || isRotated
        return length > 0 || isRotated ? ByteCount(length) : nil
      }
      (sessions, bytes) = (sizes.count, sizes.total)
    } catch {
      // A folder whose owner may not read it holds nothing that was recorded.
    }
    try Account.resumeOwnRights()
    guard sessions > 0 else { return }
    remedy = Self.remedy(path, of: owner)
  }

  /// What gets the sessions of a folder sent.
  ///
  /// Its owner chose its name and what it contains, and may replace either, or their own home, at any
  /// time: only they copy it.
  private static func remedy(_ path: String, of owner: Account) -> String {
    let own = MachineWide.home(of: owner).path
    let home = try? FileStatus(own)
    guard owner.home != nil, own != path, !owner.isRoot, home?.kind == .directory,
      home?.owner == owner.id
    else {
      return
        "'tidemark import \(path.shellWord)/sessions/*/*.log*' sends them as sessions of root; then "
        + "move it away"
    }
    #if os(Linux)
      let command = "runuser -u \(owner.name.shellWord) --"
    #else
      let command = "sudo -u \(owner.name.shellWord)"
    #endif
    return
      "If \(owner.name) is the same user, stop the programs of \(owner.name) that record, because "
      + "what they write meanwhile would be lost; then '\(command) cp -an \((path + "/.").shellWord) "
      + "\((own + "/").shellWord)' and 'rm -r \(path.shellWord)' get them sent"
  }

  /// What waits in it; nil if nothing does.
  var waiting: String? {
    sessions == 0
      ? nil
      : "\(bytes.text)\(hasParts ? " and rotated parts" : "") in "
        + "\(Plural.text(sessions, "session")) that may not have been sent"
  }

  /// One line for a person.
  var line: String {
    "skipped: \(path): \(reason)\(waiting.map { "; it has \($0)" } ?? ""). \(remedy)"
  }
}

public import Platform

/// Machine-wide mode: one configuration and one device for all users, a home for each of them, and
/// one upload by root for all.
///
/// The state directory is like `/tmp`: every user can create a folder in it, and none can change
/// another's. Nothing in it is trusted by name alone: a home counts only if it belongs to the user
/// in its name, and the device record only if it is root's.
public enum MachineWide {
  /// The configuration, whose existence enables the mode.
  public static let configurationPath = "/etc/tidemark/tidemark.yaml"
  /// The folder of the homes.
  public static let statePath = "/var/lib/tidemark"
  /// The record of the single device.
  static let devicePath = statePath + "/device.json"
  /// The folder with the states of scenarios.
  static let controlPath = statePath + "/control"

  /// Whether this machine is set up for it.
  public static var isConfigured: Bool { File.exists(configurationPath) }

  /// A user's home.
  public static func home(of account: Account) -> Home {
    Home(path: "\(statePath)/\(account.name)", owner: account)
  }

  /// Creates the configuration's folder, the state directory and the folder of scenarios' states;
  /// for root.
  ///
  /// - Parameter machine: its random numbers name what is set aside.
  /// - Throws: ``SystemError``.
  public static func create(on machine: Machine) throws {
    try Directory.make("/etc/tidemark")
    try File.setMode(0o755, of: "/etc/tidemark")
    try Directory.make(statePath)
    // While the folder is new, no other user can be faster.
    try makeControl(on: machine)
    try File.setMode(0o1733, of: statePath)
  }

  /// Creates the folder of scenarios' states, which other users read; for root.
  ///
  /// Anything that another user put at its path is set aside, even while this runs.
  ///
  /// - Throws: ``SystemError``.
  static func makeControl(on machine: Machine) throws {
    for _ in 0..<mostAttempts {
      try Directory.makeOne(controlPath)
      if let folder = try? Descriptor(openingDirectory: controlPath, followsLinks: false),
        try folder.status().owner == 0
      {
        return try folder.setMode(0o755)
      }
      try setAside(controlPath, on: machine)
    }
    throw SystemError(
      operation: "make", path: controlPath, errno: SystemError.Number.taken)
  }

  private static let mostAttempts = 100

  /// Renames a file or folder that another user put where root's is to be.
  private static func setAside(_ path: String, on machine: Machine) throws(SystemError) {
    do {
      try File.rename(path, to: "\(path).refused-\(RandomName.make(8, machine.random))")
    } catch  where error.isNotFound {
      return
    }
  }

  /// Whether a file or folder in the state directory exists and is not root's.
  static func isForeign(_ path: String) -> Bool {
    (try? FileStatus(path)).map { $0.owner != 0 } ?? false
  }

  /// Refuses a file or folder in the state directory that is not root's; one that is missing
  /// passes.
  static func checkIsRoots(_ path: String) throws {
    guard isForeign(path) else { return }
    throw SystemError(
      operation: "trust, as it is not root's,", path: path, errno: SystemError.Number.notPermitted)
  }

  /// Creates missing homes and the folder of scenarios' states, so that no other user can create
  /// them first; for root.
  ///
  /// - Returns: those that could not be created, and why.
  /// - Throws: ``SystemError`` if root's rights cannot be resumed.
  package static func makeHomes(
    on machine: Machine
  ) throws -> [(path: String, reason: String)] {
    var failed: [(path: String, reason: String)] = []
    do {
      try makeControl(on: machine)
      for path in [home(of: Account(id: 0)).path, devicePath] where isForeign(path) {
        try setAside(path, on: machine)
      }
    } catch {
      failed.append((controlPath, "\(error)"))
    }
    for account in Account.listed() where isName(account.name) && !account.isRoot {
      let path = home(of: account).path
      do {
        guard try FileStatus(path) == nil else { continue }
        // Create it as its user: changing the owner takes a capability that root's service need not
        // have.
        try account.assumeRights()
        try Directory.makeOne(path)
      } catch {
        failed.append((path, "\(error)"))
      }
      try Account.resumeOwnRights()
    }
    return failed
  }

  /// Whether an account's name is valid as a folder's: some user directories contain others.
  private static func isName(_ name: String) -> Bool {
    !name.isEmpty && !name.hasPrefix(".") && !name.contains("/")
  }

  /// The key for root's proofs that sessions are their users', created if missing; for root.
  ///
  /// It is in root's own home, where no other user can put a different one.
  ///
  /// - Throws: ``SystemError``.
  package static func ownershipKey(on machine: Machine) throws -> [UInt8] {
    let path = home(of: Account(id: 0)).path + "/ownership.key"
    if let key = try? AtomicFile.read(path), key.count >= ownershipKeyLength { return key }
    let key = Array(RandomName.make(ownershipKeyLength, machine.random).utf8)
    try AtomicFile.write(key, to: path)
    return key
  }

  /// The record of whose session each is, in root's own home; see ``SessionClaims``.
  package static func claims(of account: Account, on machine: Machine) -> SessionClaims {
    SessionClaims(
      home(of: Account(id: 0)).path + "/claims", of: account, on: machine,
      keepingDays: mayHoldSessions)
  }

  /// Whether any home, also one whose user is gone, may hold sessions of a day.
  @Sendable private static func mayHoldSessions(ofDay day: String) -> Bool {
    guard let names = try? Directory.names(in: statePath) else { return true }
    return names.contains {
      File.exists("\(Home(path: "\(statePath)/\($0)").sessionsPath)/\(day)")
    }
  }

  /// Number of characters, of 36 kinds: over 300 bits.
  private static let ownershipKeyLength = 64

  /// The users' homes, and folders only named like one, with the reason for refusing them.
  ///
  /// Any user may make many of these: once there are a thousand, a further folder is a home only
  /// if its owner has its name, so that users are looked up by a few numbers instead of by each name.
  ///
  /// - Throws: ``SystemError``.
  public static func homes() throws -> (homes: [Home], refused: [(path: String, reason: String)]) {
    var homes: [Home] = []
    var refused: [(path: String, reason: String)] = []
    var owners: [UInt32: Account] = [:]
    var looked = 0
    for name in try Directory.names(in: statePath).sorted() {
      let path = "\(statePath)/\(name)"
      guard path != controlPath, let status = try? FileStatus(path) else { continue }
      guard status.kind == .directory else {
        if status.owner != 0, looked < mostLookedUp {
          looked += 1
          if Account(named: name)?.name == name { refused.append((path, "it is no folder")) }
        }
        continue
      }
      let owner = owners[status.owner] ?? Account(id: status.owner)
      owners[status.owner] = owner
      guard refused.count < mostLookedUp || owner.name == name else {
        refused.append((path, "it belongs to \(owner.name), not to \(name)"))
        continue
      }
      guard let account = Account(named: name), account.name == name else {
        refused.append((path, "no user has this name"))
        continue
      }
      guard status.owner == account.id else {
        refused.append((path, "it belongs to \(owner.name), not to \(name)"))
        continue
      }
      homes.append(home(of: account))
    }
    return (homes, refused)
  }

  /// Maximum number of refused folders whose names are looked up.
  private static let mostLookedUp = 1000

  /// Rejects a home that someone else created under this user's name.
  static func checkOwner(of path: String, is account: Account) throws {
    guard let status = try FileStatus(path) else {
      throw SystemError(operation: "stat", path: path, errno: SystemError.Number.notFound)
    }
    guard status.kind == .directory, status.owner == account.id else {
      throw SystemError(
        operation: "use, as it is not \(account.name)'s,", path: path,
        errno: SystemError.Number.notPermitted)
    }
  }
}

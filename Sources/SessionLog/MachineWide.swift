public import Platform

/// Machine-wide mode: one configuration and one device for all users, a home for each of them, and
/// root's one upload that serves them all.
///
/// The state directory is like `/tmp`: everybody may make their own folder in it and nobody can
/// touch another's. Nothing in it is believed for its name alone: a home counts only when it belongs
/// to the user that it is named for, and the device record only when it is root's.
public enum MachineWide {
  /// The configuration; that it exists turns the mode on.
  public static let configurationPath = "/etc/tidemark/tidemark.yaml"
  /// Where the homes are.
  public static let statePath = "/var/lib/tidemark"
  /// The record of the one device.
  static let devicePath = statePath + "/device.json"
  /// The folder that tells what scenarios are set to.
  static let controlPath = statePath + "/control"

  /// Whether this machine is set up so.
  public static var isConfigured: Bool { File.exists(configurationPath) }

  /// A user's home.
  public static func home(of account: Account) -> Home {
    Home(path: "\(statePath)/\(account.name)", owner: account)
  }

  /// Makes the configuration's folder and the state directory; for root.
  ///
  /// - Throws: ``SystemError``.
  public static func create() throws {
    for (path, mode) in [("/etc/tidemark", 0o755), (statePath, 0o1733)] as [(String, UInt32)] {
      try Directory.make(path)
      try File.setMode(mode, of: path)
    }
  }

  /// Makes the homes that are missing, so that nobody else can make them first; for root.
  ///
  /// - Returns: which could not be made, and why.
  /// - Throws: ``SystemError`` when root's rights cannot be taken on again.
  package static func makeHomes() throws -> [(path: String, reason: String)] {
    var failed: [(path: String, reason: String)] = []
    for account in Account.listed() where isName(account.name) && !account.isRoot {
      let path = home(of: account).path
      do {
        guard try FileStatus(path) == nil else { continue }
        // As the user would: to give a folder away takes a right that root's service need not have.
        try account.assumeRights()
        try Directory.makeOne(path)
      } catch {
        failed.append((path, "\(error)"))
      }
      try Account.resumeOwnRights()
    }
    return failed
  }

  /// Whether an account's name can be a folder's: some directories of users list others.
  private static func isName(_ name: String) -> Bool {
    !name.isEmpty && !name.hasPrefix(".") && !name.contains("/")
  }

  /// The key of root's proofs that sessions are their users', made where it is missing; for root.
  ///
  /// It lies in root's own home, where nobody else can put another.
  ///
  /// - Throws: ``SystemError``.
  package static func ownershipKey(on machine: Machine = .current) throws -> [UInt8] {
    let path = home(of: Account(id: 0)).path + "/ownership.key"
    if let key = try? AtomicFile.read(path), key.count >= ownershipKeyLength { return key }
    let key = Array(RandomName.make(ownershipKeyLength, machine.random).utf8)
    try AtomicFile.write(key, to: path)
    return key
  }

  /// Characters of 36 kinds: over 300 bits.
  private static let ownershipKeyLength = 64

  /// The users' homes, and what else has the name of one, with the reason why it is left alone.
  ///
  /// - Throws: ``SystemError``.
  public static func homes() throws -> (homes: [Home], refused: [(path: String, reason: String)]) {
    var homes: [Home] = []
    var refused: [(path: String, reason: String)] = []
    for name in try Directory.names(in: statePath).sorted() {
      let path = "\(statePath)/\(name)"
      guard path != controlPath, let status = try? FileStatus(path), status.kind == .directory
      else { continue }
      guard let account = Account(named: name), account.name == name else {
        refused.append((path, "no user has this name"))
        continue
      }
      guard status.owner == account.id else {
        refused.append((path, "it belongs to \(Account(id: status.owner).name), not to \(name)"))
        continue
      }
      homes.append(home(of: account))
    }
    return (homes, refused)
  }

  /// Refuses a home that somebody else made under this user's name.
  static func checkOwner(of path: String, is account: Account) throws {
    guard let status = try FileStatus(path) else {
      throw SystemError(operation: "stat", path: path, errno: SystemError.Number.notFound)
    }
    guard status.kind == .directory, status.owner == account.id else {
      throw SystemError(
        operation: "use, as it is not \(account.name)'s,", path: path,
        errno: SystemError.Number.denied)
    }
  }
}

import Platform

/// A home that another user can exchange, with its configuration.
package struct ForeignHome: Error, CustomStringConvertible {
  let home: String
  let found: PathOwners.Owned
  let user: Account

  package var description: String {
    let owner = Account(id: found.owner).name
    let whose = found.path == home ? "" : ", on the way to \(home),"
    return
      "\(found.path)\(whose) belongs to \(owner), who decides what is in it, and \(user.name) does not "
      + "use it: run this as \(owner), 'chown \(user.name)' it, or name another folder in TIDEMARK_HOME "
      + "(with sudo: 'sudo -H')"
  }
}

/// Whose a home is, who may use it, and with whose rights it is used.
extension Home {
  /// Verifies that no other user chooses what is in this home, its configuration above all: the home
  /// is this process's user's or root's and, for root, so is every folder and link on the way to it.
  ///
  /// A home that its user did not choose, in machine-wide mode, is verified when it is created.
  ///
  /// - Throws: ``ForeignHome``; ``Platform/SystemError``.
  package func checkTrust() throws {
    guard owner == nil else { return }
    guard let found = try PathOwners.stranger(at: path) else { return }
    throw ForeignHome(home: path, found: found, user: Account(id: Account.effective))
  }

  /// Names of the folders in a home.
  private static let folders: Set<String> = [
    "sessions", "open", "cache", "rules", "quarantine", "keep", "trash", "deletions",
    "control", "operator",
  ]

  /// Whether a folder is ours and contains only a home: closing a shared folder would lock its
  /// other users out.
  private func isHomeAlone(_ status: FileStatus) throws -> Bool {
    guard status.kind == .directory, status.owner == Account.effective else { return false }
    return try Directory.names(in: path).allSatisfy { name in
      let isFolder = try FileStatus("\(path)/\(name)")?.kind == .directory
      return !isFolder || Self.folders.contains(name)
    }
  }

  /// Removes the permissions of group and others from a home.
  ///
  /// - Throws: ``SystemError``.
  func closeToOthers() throws {
    guard let status = try FileStatus(path), status.rights & 0o077 != 0, try isHomeAlone(status)
    else { return }
    try File.setMode(0o700, of: path)
  }

  /// Runs `body` with the rights of the home's owner, if the home is another user's.
  ///
  /// The whole process has these rights meanwhile.
  ///
  /// - Throws: ``Platform/SystemError`` if the rights cannot be assumed or given back, or the home
  ///   cannot be created; errors of `body`.
  package func withOwnersRights<Result>(_ body: () async throws -> Result) async throws -> Result {
    guard let owner else { return try await body() }
    try owner.assumeRights()
    let result: Result
    do {
      try create()
      result = try await body()
    } catch {
      try Account.resumeOwnRights()
      throw error
    }
    try Account.resumeOwnRights()
    return result
  }
}

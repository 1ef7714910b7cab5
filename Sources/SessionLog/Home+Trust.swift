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
}

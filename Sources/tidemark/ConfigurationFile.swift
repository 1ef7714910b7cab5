import Platform

/// A configuration file, and who may change it.
///
/// What names commands, or files to read, is followed only if the file that was read, and not
/// another of that name, is beyond the reach of other users.
struct ConfigurationFile {
  /// Its text.
  let text: String
  private let status: FileStatus

  /// Reads a file, following links; nil if there is none.
  ///
  /// - Throws: ``Failure``.
  init?(_ path: String) throws {
    do {
      let file = try OpenFile(path, followsLinks: true)
      status = try file.status()
      text = String(decoding: try AtomicFile.read(file), as: UTF8.self)
    } catch let error as SystemError where error.isNotFound {
      return nil
    } catch {
      throw Failure(.configuration, "\(error); check what it is and who owns it")
    }
  }

  /// Whether only root, this process's user and, unless that is root, their group may change it.
  var isOursAlone: Bool {
    let user = Account.effective
    return [0, user].contains(status.owner) && status.rights & (user == 0 ? 0o022 : 0o002) == 0
  }

  /// Whether only its owner can read it.
  var isPrivate: Bool { status.rights & 0o077 == 0 }
}

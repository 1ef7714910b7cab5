import Platform

/// A regular file that configuration or environment name, opened with the rights that the process was
/// started with.
///
/// The environment may be another user's, as under `sudo`: nothing is read before its size and its
/// owner are known, and a FIFO or a device is not opened at all.
struct ConfiguredFile {
  private let file: OpenFile

  /// Opens a file.
  ///
  /// - Throws: ``Platform/SystemError``, also if it is not a regular file.
  init(_ path: String) throws {
    file = try withOwnRights { try OpenFile(path, followsLinks: true) }
  }

  /// Its owner, and the first of the folders and links on the way to it that belongs to somebody
  /// who is neither this process's user nor root; nil if nothing does.
  func stranger() throws -> PathOwners.Owned? {
    let owner = try file.status().owner
    guard [0, Account.effective].contains(owner) else {
      return .init(path: file.path, owner: owner)
    }
    return withOwnRights { try? PathOwners.stranger(at: file.path) }
  }

  /// Its content; nil if it is larger than a limit in bytes.
  func content(limit: Int) throws -> [UInt8]? {
    let content = try file.read(at: 0, count: limit + 1)
    return content.count <= limit ? content : nil
  }
}

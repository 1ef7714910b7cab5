/// An open folder, whose names lead to files in it and nowhere else, whoever may write there.
///
/// No operation follows a link or waits for a pipe at a name.
package final class OpenFolder: Sendable {
  private let folder: Descriptor

  /// Opens a folder that may belong to another user, see
  /// ``Descriptor/init(openingForeignFolder:creating:)``.
  ///
  /// - Throws: ``SystemError``.
  package init(foreign path: String, creating rights: UInt32? = nil) throws(SystemError) {
    folder = try Descriptor(openingForeignFolder: path, creating: rights)
  }

  /// The path it was opened with.
  package var path: String { folder.path }

  /// The path of an entry, for messages.
  package func path(of name: String) -> String { folder.path(of: name) }

  /// Names of its entries.
  package func names() throws(SystemError) -> [String] { try folder.names() }

  /// The status of an entry, a link's own; nil if it does not exist.
  package func status(of name: String) throws(SystemError) -> FileStatus? {
    do {
      return try folder.status(of: name)
    } catch  where error.isNotFound {
      return nil
    }
  }

  /// Opens a regular file.
  ///
  /// - Parameter mode: how to open it; a new one is readable by its owner only.
  package func open(
    _ name: String, _ mode: Descriptor.Mode = []
  ) throws(SystemError) -> Descriptor {
    let file: Descriptor
    do {
      file = try Descriptor(name, in: folder, mode)
    } catch {
      // A link, a folder opened for writing and a pipe without a reader fail with different error
      // numbers.
      if error.isTaken { throw error }
      guard let status = try status(of: name), status.kind != .file else { throw error }
      throw Descriptor.refusal(path(of: name), error.errno)
    }
    guard try file.status().kind == .file else {
      throw Descriptor.refusal(path(of: name), SystemError.Number.invalid)
    }
    return file
  }

  /// Reads a whole file of at most 16 MiB; nil if it does not exist.
  package func read(_ name: String) throws -> [UInt8]? {
    do {
      return try AtomicFile.read(OpenFile(name, in: self))
    } catch let error as SystemError where error.isNotFound {
      return nil
    }
  }

  /// Writes a file, readable by its owner only, in place of any other; not durable.
  package func write(_ bytes: [UInt8], to name: String) throws(SystemError) {
    let temporary = AtomicFile.temporaryName(name)
    do throws(SystemError) {
      try Descriptor(temporary, in: folder, [.write, .new]).write(bytes)
      try rename(temporary, to: name)
    } catch {
      try? remove(temporary)
      throw error
    }
  }

  /// Renames an entry, replacing an existing one.
  package func rename(_ name: String, to new: String) throws(SystemError) {
    try folder.rename(name, to: new)
  }

  /// Removes an entry other than a folder; succeeds if it is missing.
  package func remove(_ name: String) throws(SystemError) {
    do {
      try folder.remove(name)
    } catch  where error.isNotFound {
      return
    }
  }

  /// Gives an entry an additional name in a folder, which must be free.
  package func link(
    _ name: String, to new: String, in other: OpenFolder
  ) throws(SystemError) {
    try folder.link(name, to: new, in: other.folder)
  }

  /// Makes its names durable.
  package func synchronize() throws(SystemError) { try folder.synchronizeNames() }
}

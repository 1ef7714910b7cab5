#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Makes directories, and lists the names in them.
package enum Directory {
  /// Makes a directory and its parents.
  ///
  /// - Parameters:
  ///   - rights: theirs, as far as the mask of the process leaves them; by default for their owner
  ///     alone.
  ///   - isDurable: whether what is made survives a power cut; what is there already is left alone.
  package static func make(
    _ path: String, rights: UInt32 = 0o700, isDurable: Bool = false
  ) throws(SystemError) {
    do {
      try makeOne(path, rights: rights, isDurable: isDurable)
    } catch  where error.errno == ENOENT {
      guard let slash = path.lastIndex(of: "/"), slash != path.startIndex else { throw error }
      try make(String(path[..<slash]), rights: rights, isDurable: isDurable)
      try makeOne(path, rights: rights, isDurable: isDurable)
    }
  }

  /// Makes a directory whose parent is there; one that exists is fine.
  package static func makeOne(
    _ path: String, rights: UInt32 = 0o700, isDurable: Bool = false
  ) throws(SystemError) {
    do {
      try File.perform(.makeDirectory, path, "make") { Int(mkdir(path, mode_t(rights))) }
    } catch  where error.errno == EEXIST {
      return
    }
    if isDurable { try synchronize(AtomicFile.directory(of: path)) }
  }

  /// Whether nothing is in a directory, or it is not there; false for one that cannot be read.
  package static func isEmpty(_ path: String) -> Bool {
    struct Found: Error {}
    do {
      try Descriptor(openingDirectory: path, followsLinks: false).forEachEntry { entry in
        if entry.name.count > 2 || !entry.name.allSatisfy({ $0 == 0x2e }) { throw Found() }
      }
      return true
    } catch let error as SystemError {
      return error.isNotFound
    } catch {
      return false
    }
  }

  /// Removes a directory; one that is not empty, or not there, stays as it is.
  package static func removeIfEmpty(_ path: String) {
    try? File.perform(.removeDirectory, path, "remove") { Int(rmdir(path)) }
  }

  /// Names in a directory; one that is not there is empty.
  package static func names(in directory: String) throws(SystemError) -> [String] {
    let folder: Descriptor
    do {
      folder = try Descriptor(openingDirectory: directory)
    } catch  where error.isNotFound {
      return []
    }
    return try folder.names()
  }

  /// Makes the names in a directory durable.
  package static func synchronize(_ path: String) throws(SystemError) {
    try Descriptor(openingDirectory: path).synchronizeNames()
  }
}

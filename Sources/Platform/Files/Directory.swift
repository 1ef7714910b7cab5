#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Creates directories, and lists their names.
package enum Directory {
  /// Creates a directory and its missing parents, for their owner only.
  ///
  /// - Parameter isDurable: whether new directories survive a power failure; existing ones are not
  ///   changed.
  package static func make(_ path: String, isDurable: Bool = false) throws(SystemError) {
    do {
      try makeOne(path, isDurable: isDurable)
    } catch  where error.errno == ENOENT {
      guard let slash = path.lastSlash, slash != path.startIndex else { throw error }
      try make(String(path[..<slash]), isDurable: isDurable)
      try makeOne(path, isDurable: isDurable)
    }
  }

  /// Creates a directory whose parent exists; succeeds if it exists already.
  package static func makeOne(_ path: String, isDurable: Bool = false) throws(SystemError) {
    do {
      try File.perform(.makeDirectory, path, "make") { Int(mkdir(path, 0o700)) }
    } catch  where error.errno == EEXIST {
      return
    }
    if isDurable { try synchronize(AtomicFile.directory(of: path)) }
  }

  /// Whether a directory is empty or missing; false if it cannot be read.
  package static func isEmpty(_ path: String) -> Bool {
    struct Found: Error {}
    do {
      let folder = try Descriptor(openingDirectory: path, followsLinks: false)
      try folder.forEachEntry { _ in throw Found() }
      return true
    } catch let error as SystemError {
      return error.isNotFound
    } catch {
      return false
    }
  }

  /// Removes a directory if it is empty; ignores a missing one.
  package static func removeIfEmpty(_ path: String) {
    try? File.perform(.removeDirectory, path, "remove") { Int(rmdir(path)) }
  }

  /// Names in a directory; none if it is missing.
  package static func names(in directory: String) throws(SystemError) -> [String] {
    let folder: Descriptor
    do {
      folder = try Descriptor(openingDirectory: directory)
    } catch  where error.isNotFound {
      return []
    }
    return try folder.names()
  }

  /// Lists names in a directory that another user may control: at most a given number, and without
  /// following a link.
  package static func names(
    in directory: String, atMost most: Int
  ) throws(SystemError) -> [String] {
    struct Enough: Error {}
    var names: [String] = []
    do {
      let folder = try Descriptor(openingDirectory: directory, followsLinks: false)
      try folder.forEachEntry { entry in
        guard names.count < most else { throw Enough() }
        names.append(String(decoding: entry.name, as: UTF8.self))
      }
    } catch let error as SystemError {
      guard error.isNotFound else { throw error }
    } catch {}
    return names
  }

  /// Makes the names in a directory durable.
  package static func synchronize(_ path: String) throws(SystemError) {
    try Descriptor(openingDirectory: path).synchronizeNames()
  }
}

import Platform

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A store's root folder: the one that the first operation opened, never a replacement.
///
/// If a share is not mounted, its mount point is an ordinary folder, often empty. Mistaking that
/// for the store would hide every object and put new ones on the wrong disk.
final class DirectoryRoot: Sendable {
  let path: String
  /// The first operation's folder, kept open so that its inode number is not reused.
  private let first = Guarded<Descriptor?>(nil)

  init(path: String) { self.path = path }

  /// Opens the folder.
  ///
  /// - Throws: `configuration` if the folder is missing, or differs from the first.
  func open(_ operation: String, _ target: String) throws -> Descriptor {
    do throws(SystemError) {
      let folder = try Descriptor(openingDirectory: path)
      if try isFirst(folder) { return folder }
    } catch  where error.errno == ENOTDIR {
      throw StoreError(
        .configuration, operation: operation, target: target,
        response: "\(path) is not a folder", advice: "Name a folder.")
    } catch  where error.errno == ENOENT {
      throw StoreError(
        .configuration, operation: operation, target: target, response: "the folder does not exist",
        advice: "Mount it; for a new store, run 'tidemark init file://\(path)' once.")
    } catch {
      throw fileError(error.errno, operation, target)
    }
    throw StoreError(
      .configuration, operation: operation, target: target,
      response: "the folder \(path) is not the one that this process began with",
      advice: "It was mounted, unmounted or replaced meanwhile; look at it, then try again.")
  }

  /// Whether a folder is the first one; the first call defines it.
  private func isFirst(_ folder: borrowing Descriptor) throws(SystemError) -> Bool {
    let found = try folder.status()
    return try first.withLock { first throws(SystemError) in
      guard let known = try first?.status() else {
        first = try folder.reopened()
        return true
      }
      return known.isSameFile(as: found)
    }
  }

  /// Creates the folder and its missing parents.
  ///
  /// - Returns: Whether it was missing.
  func make() throws(SystemError) -> Bool {
    guard !File.exists(path) else { return false }
    var path = ""
    for segment in self.path.split(separator: "/") {
      path += "/\(segment)"
      if !File.exists(path) { try Directory.makeOne(path) }
    }
    return true
  }
}

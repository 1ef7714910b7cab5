import Platform

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A store's root folder: the one that the first operation found, and no other in its place.
///
/// Where a share is not mounted its mount point is an ordinary folder, often an empty one. To take it
/// for the store would hide every object and put new ones on the wrong disk.
final class DirectoryRoot: Sendable {
  let path: String
  /// The folder of the first operation, held open so that no other gets its inode number.
  private let first = Guarded<Descriptor?>(nil)

  init(path: String) { self.path = path }

  /// Opens the folder.
  ///
  /// - Throws: `configuration` when the folder is missing, or is another one than at first.
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

  /// Whether a folder is the one that the first operation opened; makes it that on the first call.
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

  /// Makes the folder and those above it, as far as they are missing.
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

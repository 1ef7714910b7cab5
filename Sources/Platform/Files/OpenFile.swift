#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A regular file open for reading by position.
package final class OpenFile: Sendable {
  private let file: Descriptor

  /// Opens a file.
  ///
  /// - Parameter followsLinks: whether to follow a link at the path.
  package init(_ path: String, followsLinks: Bool = false) throws {
    file = try Descriptor(opening: path, followsLinks: followsLinks)
  }

  /// Opens another program's file, see ``Descriptor/init(openingForeign:)``.
  package init(foreign path: String) throws { file = try Descriptor(openingForeign: path) }

  /// Opens a file of an open folder.
  package init(_ name: String, in folder: OpenFolder) throws { file = try folder.open(name) }

  /// The path it was opened with.
  package var path: String { file.path }

  /// Its status now.
  package func status() throws -> FileStatus { try file.status() }

  /// Makes written bytes durable.
  package func synchronize() throws {
    do {
      try file.synchronizeContent()
    } catch {
      // A file that only root may write can be on a file system that we cannot sync.
      guard error.errno == EROFS || error.errno == EINVAL else { throw error }
    }
  }

  /// Reads at an offset.
  ///
  /// - Returns: fewer bytes than requested only at the end of the file.
  package func read(at offset: Int64, count: Int) throws -> [UInt8] {
    try file.read(at: offset, count: count)
  }
}

package import LogRecords
package import Platform

/// Compresses and reads rotated parts.
///
/// Programs that embed this target need no compression library: their parts stay plain, until an
/// upload, which has one, compresses them. A plain part is as valid as a compressed one.
package protocol PartCompression: Sendable {
  /// Compresses a session's plain parts, except those that another process is compressing.
  ///
  /// The compressed file gets its name once it is durable; the plain one is removed after that.
  ///
  /// - Throws: ``Platform/SystemError``, and errors of the library.
  func compress(_ files: SessionFiles, format: LogFormat) throws

  /// Opens a compressed part.
  ///
  /// - Throws: ``Platform/SystemError``, also for a damaged file.
  func open(_ part: LogPart) throws -> any OpenPart
}

/// A rotated part, open for reading; used by one thread at a time.
package protocol OpenPart: AnyObject {
  /// Length of its log in bytes.
  var length: ByteCount { get }

  /// The file's status, including when its bytes were written.
  ///
  /// - Throws: ``Platform/SystemError``.
  func status() throws -> FileStatus

  /// Reads at a position relative to the part's first byte.
  ///
  /// - Returns: fewer bytes than requested only at the end of the part.
  /// - Throws: ``Platform/SystemError``, also for damage.
  func read(at position: Int64, count: Int) throws -> [UInt8]
}

/// Leaves parts plain, and cannot read compressed ones.
struct NoCompression: PartCompression {
  func compress(_ files: SessionFiles, format: LogFormat) {}

  func open(_ part: LogPart) throws -> any OpenPart {
    throw SystemError(
      operation: "decompress",
      path: part.compressed,
      errno: try FileStatus(part.compressed) == nil
        ? SystemError.Number.notFound : SystemError.Number.unsupported)
  }
}

/// An uncompressed part.
private final class PlainPart: OpenPart {
  let length: ByteCount
  private let file: OpenFile

  init(_ file: OpenFile) throws {
    self.file = file
    length = ByteCount(try file.status().length)
  }

  func status() throws -> FileStatus { try file.status() }

  func read(at position: Int64, count: Int) throws -> [UInt8] {
    try file.read(at: position, count: count)
  }
}

extension SessionFiles {
  /// Opens a part, preferring the plain file.
  ///
  /// - Throws: ``Platform/SystemError``.
  package func open(_ part: LogPart) throws -> any OpenPart {
    // Compression ends by removing the plain file, once the compressed one exists.
    do {
      return try PlainPart(try OpenFile(part.plain))
    } catch let error as SystemError where error.isNotFound {
      return try compression.open(part)
    }
  }

  /// Compresses the plain parts.
  ///
  /// - Throws: like ``PartCompression/compress(_:format:)``.
  package func compressParts(format: LogFormat) throws {
    try compression.compress(self, format: format)
  }
}

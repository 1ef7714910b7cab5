package import LogRecords
package import Platform

/// How rotated parts are compressed and read.
///
/// Programs that embed this target need no compression library: their parts stay plain, until an
/// upload, which has one, compresses them. A plain part is as valid as a compressed one.
package protocol PartCompression: Sendable {
  /// Compresses a session's plain parts, apart from those that another process is compressing.
  ///
  /// The compressed file gets its name once it is durable; the plain one is removed after that.
  ///
  /// - Throws: ``Platform/SystemError``, and what the library throws.
  func compress(_ files: SessionFiles, format: LogFormat) throws

  /// Opens a compressed part.
  ///
  /// - Throws: ``Platform/SystemError``, also for a file that is damaged.
  func open(_ part: LogPart) throws -> any OpenPart
}

/// A rotated part that is open for reading; used by one thread at a time.
package protocol OpenPart: AnyObject {
  /// Bytes of log in it.
  var length: ByteCount { get }

  /// Where the file lies, and when its bytes were written.
  ///
  /// - Throws: ``Platform/SystemError``.
  func status() throws -> FileStatus

  /// Reads at a position, counted from the part's first byte.
  ///
  /// - Returns: fewer bytes than asked for only where the part ends.
  /// - Throws: ``Platform/SystemError``, also for damage.
  func read(at position: Int64, count: Int) throws -> [UInt8]
}

/// Leaves parts plain, and cannot read what another program has compressed.
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

/// A part as it was written.
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
  /// Opens a part, the plain file where there is one.
  ///
  /// - Throws: ``Platform/SystemError``.
  package func open(_ part: LogPart) throws -> any OpenPart {
    // Compressing ends with the removal of the plain file, when the compressed one stands.
    do {
      return try PlainPart(try OpenFile(part.plain))
    } catch let error as SystemError where error.isNotFound {
      return try compression.open(part)
    }
  }

  /// Compresses the plain parts.
  ///
  /// - Throws: as ``PartCompression/compress(_:format:)`` does.
  package func compressParts(format: LogFormat) throws {
    try compression.compress(self, format: format)
  }
}

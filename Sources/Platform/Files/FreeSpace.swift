#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Free space on a file system, for output of which the size is not known beforehand.
///
/// Compressed input of two megabytes can stand for forty gigabytes: only the disk says what is too
/// much. Nothing is written that would fill it.
package struct FreeSpace: Sendable {
  /// Left to other programs, in bytes, or a twentieth of a smaller file system.
  private static let reserve: UInt64 = 64 << 20

  private let measure: @Sendable (String) -> ByteCount

  /// - Parameter measure: bytes that may be written in a folder.
  package init(_ measure: @escaping @Sendable (String) -> ByteCount) { self.measure = measure }

  /// What the system says; what cannot be measured is not refused.
  package static let system = FreeSpace { folder in
    var status = statvfs()
    guard statvfs(folder, &status) == 0, status.f_blocks > 0 else { return .max }
    let unit = UInt64(status.f_frsize)
    let (free, isHuge) = UInt64(status.f_bavail).multipliedReportingOverflow(by: unit)
    guard !isHuge else { return .max }
    let share = UInt64(status.f_blocks).multipliedReportingOverflow(by: unit).partialValue / 20
    let reserve = min(reserve, share)
    return ByteCount(Int64(clamping: free > reserve ? free - reserve : 0))
  }

  /// Less room than that is little: what can be spared is given up for it, in bytes.
  private static let shortage: ByteCount = 1 << 30

  /// Whether a folder's file system is short of room.
  package func isShort(in folder: String) -> Bool { measure(folder) < Self.shortage }

  /// Makes sure that some bytes fit, and returns what watches while they are written.
  ///
  /// - Parameters:
  ///   - bytes: how many are promised; 0 where nobody says.
  ///   - folder: where they are to be written.
  ///   - what: the session, or the file, for a message.
  /// - Throws: ``SpaceShortage``.
  package func watch(_ bytes: ByteCount, in folder: String, for what: String) throws -> Watch {
    let free = measure(folder)
    guard bytes <= free else {
      throw SpaceShortage(what: what, folder: folder, promised: bytes, free: free)
    }
    return Watch(space: self, folder: folder, what: what)
  }

  /// Watches the room while bytes are written: others write as well.
  package struct Watch {
    /// Bytes that are written between two measurements.
    private static let interval = 16 << 20

    fileprivate let space: FreeSpace
    fileprivate let folder: String
    fileprivate let what: String
    /// Bytes written since the last measurement.
    private var unmeasured = 0

    fileprivate init(space: FreeSpace, folder: String, what: String) {
      (self.space, self.folder, self.what) = (space, folder, what)
    }

    /// Counts bytes that are about to be written.
    ///
    /// - Throws: ``SpaceShortage``.
    package mutating func take(_ count: Int) throws {
      unmeasured += count
      guard unmeasured >= Self.interval else { return }
      unmeasured = 0
      self = try space.watch(ByteCount(Self.interval), in: folder, for: what)
    }
  }
}

/// Less room than what is to be written takes.
package struct SpaceShortage: Error, Sendable, CustomStringConvertible {
  let what: String
  let folder: String
  /// Bytes that are to be written, at least.
  let promised: ByteCount
  /// Bytes that may be.
  let free: ByteCount

  /// One line for a person.
  package var description: String {
    "cannot write \(what) to \(folder): it takes \(promised) bytes, and there is room for \(free); "
      + "make room, or choose another folder"
  }
}

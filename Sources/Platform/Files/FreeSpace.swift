#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Free space on a file system, for output of unknown size.
///
/// Two megabytes of compressed input can expand to forty gigabytes: only the disk determines what
/// is too much. Output that would fill it is refused.
package struct FreeSpace: Sendable {
  /// Reserved for other programs, in bytes; on a smaller file system a twentieth of it.
  private static let reserve: UInt64 = 64 << 20

  /// Free space below which a file system counts as short, in bytes; on a smaller file system a
  /// twentieth of it.
  ///
  /// Then dispensable files, such as the trash, are deleted.
  private static let shortage: UInt64 = 1 << 30

  /// Free space below which not even a small record is certain to be written.
  private static let leastRecord: UInt64 = 32 << 10

  /// A folder's file system.
  package struct Room: Sendable {
    /// Bytes that may be written.
    let free: ByteCount
    /// Whether the file system is short of space.
    let isShort: Bool
    /// Whether there is no room for even the smallest records.
    let isFull: Bool

    /// Describes a file system.
    package init(free: ByteCount, isShort: Bool, isFull: Bool = false) {
      (self.free, self.isShort, self.isFull) = (free, isShort, isFull)
    }
  }

  private let measure: @Sendable (String) -> Room

  /// - Parameter measure: bytes that may be written in a folder.
  package init(_ measure: @escaping @Sendable (String) -> Room) { self.measure = measure }

  /// The system's free space; if it cannot be measured, nothing is refused.
  package static let system = FreeSpace { folder in
    let unknown = Room(free: .max, isShort: false)
    var status = statvfs()
    guard statvfs(folder, &status) == 0, status.f_blocks > 0 else { return unknown }
    let unit = UInt64(status.f_frsize)
    let (free, isHuge) = UInt64(status.f_bavail).multipliedReportingOverflow(by: unit)
    guard !isHuge else { return unknown }
    let share = UInt64(status.f_blocks).multipliedReportingOverflow(by: unit).partialValue / 20
    let reserve = min(reserve, share)
    return Room(
      free: ByteCount(Int64(clamping: free > reserve ? free - reserve : 0)),
      isShort: free < min(shortage, share), isFull: free < leastRecord)
  }

  /// Whether a folder's file system is short of space.
  package func isShort(in folder: String) -> Bool { measure(folder).isShort }

  /// Whether a folder's file system has no room for even the smallest records.
  package func isFull(in folder: String) -> Bool { measure(folder).isFull }

  /// Ensures that some bytes fit, and returns a watch for use while they are written.
  ///
  /// - Parameters:
  ///   - bytes: the expected size; 0 if unknown.
  ///   - folder: the folder to write in.
  ///   - what: the session, or the file, for a message.
  /// - Throws: ``SpaceShortage``.
  package func watch(_ bytes: ByteCount, in folder: String, for what: String) throws -> Watch {
    let free = measure(folder).free
    guard bytes <= free else {
      throw SpaceShortage(what: what, folder: folder, promised: bytes, free: free)
    }
    return Watch(space: self, folder: folder, what: what)
  }

  /// Watches the free space while bytes are written: others write as well.
  package struct Watch {
    /// Bytes written between measurements.
    private static let interval = 16 << 20

    fileprivate let space: FreeSpace
    fileprivate let folder: String
    fileprivate let what: String
    /// Bytes written since the last measurement.
    private var unmeasured = 0

    fileprivate init(space: FreeSpace, folder: String, what: String) {
      (self.space, self.folder, self.what) = (space, folder, what)
    }

    /// Counts bytes to be written.
    ///
    /// - Throws: ``SpaceShortage``.
    package mutating func count(_ count: Int) throws {
      unmeasured += count
      guard unmeasured >= Self.interval else { return }
      unmeasured = 0
      self = try space.watch(ByteCount(Self.interval), in: folder, for: what)
    }
  }
}

/// There is less space than the output needs.
package struct SpaceShortage: Error, Sendable, CustomStringConvertible {
  let what: String
  let folder: String
  /// Minimum number of bytes to write.
  let promised: ByteCount
  /// Number of bytes that may be written.
  let free: ByteCount

  /// One line for a person.
  package var description: String {
    "cannot write \(what) to \(folder): it takes \(promised) bytes, and there is room for \(free); "
      + "make room, or choose another folder"
  }
}

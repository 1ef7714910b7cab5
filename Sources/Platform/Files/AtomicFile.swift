#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Files that are replaced whole or not at all, also when the power goes.
package enum AtomicFile {
  /// More than any file that is read whole can need, in bytes.
  private static let readLimit = 16 << 20
  /// What the names of files that are being written end in.
  private static let temporarySuffix = ".tmp"
  /// No file is being written for longer than this.
  private static let longestWrite = Duration.days(1)

  /// Writes a temporary file, syncs it, renames it over `path` and syncs the directory.
  ///
  /// - Parameter isDurable: false leaves the syncing to ``synchronize(_:)``.
  package static func write(
    _ bytes: [UInt8], to path: String, mode: UInt32 = 0o600, isDurable: Bool = true
  ) throws {
    try write(to: path, mode: mode, isDurable: isDurable) { write in
      try bytes.withUnsafeBytes(write)
    }
  }

  /// The same for content that comes in pieces, handed to the function that `body` is given.
  package static func write(
    to path: String, mode: UInt32 = 0o600, isDurable: Bool = true,
    _ body: ((UnsafeRawBufferPointer) throws -> Void) throws -> Void
  ) throws {
    let random = FileEffect.hook?.random ?? Machine.current.random
    let temporary = "\(path).\(RandomName.make(6, random))\(temporarySuffix)"
    do {
      let file = try Descriptor(opening: temporary, [.write, .new], rights: mode)
      // The mask of the process may have taken rights away.
      try file.setMode(mode)
      try body { try file.write($0) }
      if isDurable { try file.synchronize() }
      try File.rename(temporary, to: path)
    } catch {
      try? File.remove(temporary)
      throw error
    }
    if isDurable { try syncDirectory(of: path) }
  }

  /// Makes files durable that were written without syncing.
  ///
  /// Many at once cost little more than one: the first makes a journalling file system write what
  /// all of them wait for.
  package static func synchronize(_ paths: some Sequence<String>) throws {
    var directories: [String: String] = [:]
    for path in paths {
      try OpenFile(path).synchronize()
      directories[directory(of: path)] = path
    }
    for path in directories.values { try syncDirectory(of: path) }
  }

  /// Removes from a directory what writers have left that were killed long ago, as far as we may.
  package static func sweep(_ directory: String, now: Timestamp) {
    guard let names = try? Directory.names(in: directory) else { return }
    for name in names where name.hasSuffix(temporarySuffix) {
      let path = "\(directory)/\(name)"
      guard let status = try? FileStatus(path), status.kind == .file,
        now - status.modifiedAt > longestWrite
      else { continue }
      try? File.remove(path)
    }
  }

  /// The folder that a path is in.
  package static func directory(of path: String) -> String {
    path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
  }

  /// Reads a whole file, which must be a regular one of at most 16 MiB.
  ///
  /// - Parameter followsLinks: whether a link at the path is followed.
  package static func read(_ path: String, followsLinks: Bool = false) throws -> [UInt8] {
    let file = try OpenFile(path, followsLinks: followsLinks)
    var bytes: [UInt8] = []
    while true {
      let more = try file.read(at: Int64(bytes.count), count: 16_384)
      bytes += more
      guard bytes.count <= readLimit else {
        throw SystemError(operation: "read", path: path, errno: EFBIG)
      }
      // Files that the kernel makes up have no size, and may give less than is asked for.
      if more.isEmpty { return bytes }
    }
  }

  /// Makes the entries of a file's directory durable.
  package static func syncDirectory(of path: String) throws {
    try Directory.synchronize(directory(of: path))
  }
}

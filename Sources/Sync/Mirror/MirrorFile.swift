import Platform

/// A growing log in a mirror.
struct MirrorFile: ~Copyable {
  private let folder: OpenFolder
  private let name: String
  private let file: Descriptor

  /// Opens a log to append to it, or creates it.
  init(appendingTo name: String, in folder: OpenFolder) throws {
    (self.folder, self.name) = (folder, name)
    let isNew = try folder.status(of: name) == nil
    file = try folder.open(name, isNew ? [.readWrite, .append, .new] : [.readWrite, .append])
  }

  /// Creates an empty file in place of any other.
  init(replacing name: String, in folder: OpenFolder) throws {
    (self.folder, self.name) = (folder, name)
    try folder.remove(name)
    file = try folder.open(name, [.readWrite, .new, .append])
  }

  /// Whether it belongs to another user, who can read and change what is appended.
  func isForeign() throws -> Bool { try file.status().owner != Account.effective }

  /// Its length in bytes.
  func length() throws -> Int64 { try file.status().length }

  /// Truncates the file to its former length; removes a log that was empty before.
  func undo(to length: Int64) throws {
    try file.truncate(to: length)
    if length == 0 { try? folder.remove(name) }
  }

  /// The last bytes before an offset, `count` at most.
  func bytes(before offset: Int64, count: Int) throws -> [UInt8] {
    let start = max(0, offset - Int64(count))
    return try file.read(at: start, count: Int(offset - start))
  }

  func append(_ bytes: UnsafeRawBufferPointer) throws {
    try file.write(bytes)
  }

  func synchronize() throws { try file.synchronize() }
}

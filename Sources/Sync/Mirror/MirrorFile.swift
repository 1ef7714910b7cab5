import Platform

/// A growing log in a mirror.
struct MirrorFile: ~Copyable {
  private let file: Descriptor

  /// Opens a file, or creates it.
  init(_ path: String) throws {
    file = try Descriptor(opening: path, [.readWrite, .create, .append])
  }

  /// Its length in bytes.
  func length() throws -> Int64 { try file.status().length }

  func truncate(to length: Int64) throws { try file.truncate(to: length) }

  /// Truncates the file to its former length; removes a log that was empty before.
  func undo(to length: Int64) throws {
    try truncate(to: length)
    if length == 0 { try? File.remove(file.path) }
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

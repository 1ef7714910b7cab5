import Foundation
package import Platform

/// The target of an export: standard output, or a file that gets its name when it is complete.
package final class ExportFile {
  private let path: String?
  private let partial: String
  private let file: Descriptor?
  private var pending: [UInt8] = []
  /// Number of bytes passed on.
  private var flushed: Int64 = 0
  private var watch: FreeSpace.Watch?

  private static let limit = 1 << 20

  private let output: ((UnsafeRawBufferPointer) -> Void)?

  /// Passes everything to a function, for example to standard output.
  package init(to output: @escaping (UnsafeRawBufferPointer) -> Void) {
    (path, partial) = (nil, "")
    file = nil
    self.output = output
  }

  /// Creates a file readable by its owner only; an older one of that name stays until it is
  /// replaced.
  ///
  /// - Parameters:
  ///   - path: its path.
  ///   - bytes: minimum number of bytes to be written, as far as known.
  package init(_ path: String, promising bytes: ByteCount) throws {
    let url = URL(filePath: path)
    let folder = url.deletingLastPathComponent().path
    var isFolder: ObjCBool = false
    if FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), isFolder.boolValue {
      throw ReadingError(.unfit, "\(path) is a folder")
    }
    // A device, a pipe or a link, such as /dev/stdout, would be replaced by a file.
    if let status = try FileStatus(path), status.kind != .file {
      throw ReadingError(
        .unfit,
        "\(path) is not a regular file; use '-o -' to write to standard output")
    }
    watch = try FreeSpace.system.watch(bytes, in: folder, for: url.lastPathComponent)
    self.path = path
    partial = "\(folder)/.\(url.lastPathComponent).partial"
    do {
      // A file left by an earlier export may have other permissions, and one that another user put
      // there since has another owner.
      if File.exists(partial) { try File.remove(partial) }
      file = try Descriptor(opening: partial, [.write, .new])
    } catch {
      throw ReadingError(.output, "cannot write in \(folder)")
    }
    output = nil
  }

  /// Writes bytes.
  package func write(_ bytes: some Collection<UInt8>) throws {
    pending.append(contentsOf: bytes)
    if pending.count >= Self.limit { try flush() }
  }

  private func flush() throws {
    defer { pending.removeAll(keepingCapacity: true) }
    try watch?.count(pending.count)
    try pending.withUnsafeBytes { try file?.write($0) }
    if let output { pending.withUnsafeBytes(output) }
    flushed += Int64(pending.count)
  }

  /// Marks the present end, up to which ``takeBack(to:)`` can return.
  package func mark() throws -> Int64 {
    // Standard output keeps what it has: what follows the mark must not go there with the rest.
    try flush()
    return flushed
  }

  /// Removes what was written since a mark.
  ///
  /// - Returns: false if part of it has gone to standard output.
  package func takeBack(to mark: Int64) throws -> Bool {
    pending.removeAll(keepingCapacity: true)
    guard flushed > mark else { return true }
    guard output == nil else { return false }
    try file?.truncate(to: mark)
    try file?.seek(to: mark)
    flushed = mark
    return true
  }

  /// Gives the file its name.
  package func commit() throws {
    try flush()
    guard let path else { return }
    try file?.synchronize()
    try File.rename(partial, to: path)
  }

  /// Removes the unfinished file.
  package func discard() { if file != nil { try? File.remove(partial) } }

  /// Runs `body` with a file that exists afterwards only if nothing failed.
  package static func with<Value>(
    _ file: ExportFile, _ body: (ExportFile) async throws -> Value
  ) async throws -> Value {
    do {
      let value = try await body(file)
      try file.commit()
      return value
    } catch {
      file.discard()
      throw error
    }
  }
}

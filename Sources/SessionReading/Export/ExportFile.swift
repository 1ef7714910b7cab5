import Foundation
package import Platform

/// The target of an export: standard output, or a file that gets its name when it is complete.
package final class ExportFile {
  /// The file's place, if it is one.
  private let place: Place?
  private let file: Descriptor?
  private var pending: [UInt8] = []
  /// Number of bytes passed on.
  private var flushed: Int64 = 0
  private var watch: FreeSpace.Watch?

  private static let limit = 1 << 20

  /// A name in a folder, and the one under which the file is written there.
  private struct Place {
    let folder: OpenFolder
    let name: String
    var partial: String { ".\(name).partial" }
  }

  private let output: ((UnsafeRawBufferPointer) -> Void)?

  /// Passes everything to a function, for example to standard output.
  package init(to output: @escaping (UnsafeRawBufferPointer) -> Void) {
    place = nil
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
    do {
      let place = Place(folder: try OpenFolder(foreign: folder), name: url.lastPathComponent)
      // A device, a pipe or a link, such as /dev/stdout, would be replaced by a file.
      if let status = try place.folder.status(of: place.name), status.kind != .file {
        throw ReadingError(
          .unfit,
          "\(path) is not a regular file; use '-o -' to write to standard output")
      }
      watch = try FreeSpace.system.watch(bytes, in: folder, for: place.name)
      // A file left by an earlier export may have other permissions, and one that another user put
      // there since has another owner.
      try place.folder.remove(place.partial)
      file = try place.folder.open(place.partial, [.write, .new])
      self.place = place
    } catch let error as SystemError {
      throw ReadingError(.output, "\(error)")
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
    guard let place else { return }
    try file?.synchronize()
    try place.folder.rename(place.partial, to: place.name)
  }

  /// Removes the unfinished file.
  package func discard() { if let place { try? place.folder.remove(place.partial) } }

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

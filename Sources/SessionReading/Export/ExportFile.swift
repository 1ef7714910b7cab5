import Foundation
package import Platform

/// Where an export goes: standard output, or a file that gets its name when it is whole.
package final class ExportFile {
  private let path: String?
  private let partial: String
  private let file: Descriptor?
  private var pending: [UInt8] = []
  private var watch: FreeSpace.Watch?

  private static let limit = 1 << 20

  private let output: ((UnsafeRawBufferPointer) -> Void)?

  /// Hands everything on, to standard output say.
  package init(to output: @escaping (UnsafeRawBufferPointer) -> Void) {
    (path, partial) = (nil, "")
    file = nil
    self.output = output
  }

  /// A file for its owner alone; an older one of that name stays until it is replaced.
  ///
  /// - Parameters:
  ///   - path: its path.
  ///   - bytes: how many bytes are to be written at least, as far as anything says so.
  package init(_ path: String, promising bytes: ByteCount) throws {
    let url = URL(filePath: path)
    let folder = url.deletingLastPathComponent().path
    var isFolder: ObjCBool = false
    if FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), isFolder.boolValue {
      throw ReadingError(.unfit, "\(path) is a folder")
    }
    watch = try FreeSpace.system.watch(bytes, in: folder, for: url.lastPathComponent)
    self.path = path
    partial = "\(folder)/.\(url.lastPathComponent).partial"
    do {
      // One that an earlier export left may have other rights.
      if File.exists(partial) { try File.remove(partial) }
      file = try Descriptor(opening: partial, [.write, .create, .empty])
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
    try watch?.take(pending.count)
    try pending.withUnsafeBytes { try file?.write($0) }
    if let output { pending.withUnsafeBytes(output) }
  }

  /// Gives the file its name.
  package func commit() throws {
    try flush()
    guard let path else { return }
    try file?.synchronize()
    try File.rename(partial, to: path)
  }

  /// Leaves nothing behind.
  package func discard() { if file != nil { try? File.remove(partial) } }

  /// Runs `body` with a file that is there in the end only if nothing went wrong.
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

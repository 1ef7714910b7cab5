package import Foundation

/// A folder that is removed, with its content, with the last reference.
package final class TemporaryDirectory: Sendable {
  /// The absolute path.
  package let path: String

  /// The folder as a URL.
  package var url: URL { URL(fileURLWithPath: path, isDirectory: true) }

  /// Makes an empty folder.
  package init() throws {
    let name = "tidemark-test-\(String(UInt64.random(in: .min ... .max), radix: 36))"
    let place = FileManager.default.temporaryDirectory.resolvingSymlinksInPath()
    path = place.appendingPathComponent(name).path
    try FileManager.default.createDirectory(
      atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
  }

  deinit {
    try? FileManager.default.removeItem(atPath: path)
  }

  /// Writes a file, and creates its folders.
  @discardableResult
  package func write(_ text: String, to name: String) throws -> String {
    let file = url.appendingPathComponent(name)
    try FileManager.default.createDirectory(
      at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(text.utf8).write(to: file)
    return file.path
  }
}

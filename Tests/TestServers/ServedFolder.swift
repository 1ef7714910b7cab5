import Foundation

/// A port of its own for a server, and a folder of its own of which it shows a part below `/dav`.
struct ServedFolder {
  /// Everything of the server's, removed with the last reference.
  let folder: TemporaryDirectory
  let port: UInt16

  /// Makes the folder.
  init() throws {
    folder = try TemporaryDirectory()
    port = try Port.free()
    try FileManager.default.createDirectory(atPath: files, withIntermediateDirectories: true)
  }

  /// The URL of what is shown, without a slash at the end.
  var url: String { "http://127.0.0.1:\(port)/dav" }

  /// What is shown, on disk.
  var files: String { folder.path + "/www/dav" }
}

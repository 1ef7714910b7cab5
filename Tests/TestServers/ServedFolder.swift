import Foundation

/// A port for a server, and a folder of which it serves a part below `/dav`.
struct ServedFolder {
  /// All files of the server, removed with the last reference.
  let folder: TemporaryDirectory
  let port: UInt16

  /// Makes the folder.
  init() throws {
    folder = try TemporaryDirectory()
    port = try Port.free()
    try FileManager.default.createDirectory(atPath: files, withIntermediateDirectories: true)
  }

  /// The URL of the served part, without a slash at the end.
  var url: String { "http://127.0.0.1:\(port)/dav" }

  /// The served part on disk.
  var files: String { folder.path + "/www/dav" }
}

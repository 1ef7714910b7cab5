import Foundation

/// WsgiDAV on cheroot with basic authentication, on a port and in a folder of its own.
package final class WsgiDAVServer: FileServer {
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
    let configuration = try folder.write(
      """
      host: 127.0.0.1
      port: \(port)
      server: cheroot
      server_args: {numthreads: 8}
      provider_mapping: {"/dav": "\(files)"}
      http_authenticator:
        accept_basic: true
        accept_digest: false
        default_to_digest: false
      simple_dc:
        user_mapping:
          "*": {\(ServerLogin.user): {password: \(ServerLogin.password)}}
      verbose: 1
      logging: {enable: false}

      """, to: "wsgidav.yaml")
    process = try ServerProcess(
      ServerProcess.tool("wsgidav"), ["--config", configuration], port: port, folder: folder.path,
      install: "the PyPI packages wsgidav and cheroot")
  }
}

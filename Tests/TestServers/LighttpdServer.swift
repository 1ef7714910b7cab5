import Foundation

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// lighttpd with mod_webdav and basic authentication, on a port and in a folder of its own.
package final class LighttpdServer: FileServer {
  /// The URL of the WebDAV folder, without a slash at the end.
  package let url: String
  /// The folder on disk that the URL shows.
  package let files: String

  private let folder: TemporaryDirectory
  private let port: UInt16
  private let process: ServerProcess

  /// Starts a server.
  ///
  /// Throws `ServerFailure` if it is not installed or does not run.
  package init(password: String = ServerLogin.password) throws {
    let served = try ServedFolder()
    (folder, url, files) = (served.folder, served.url, served.files)
    port = served.port
    try folder.write("\(ServerLogin.user):\(password)\n", to: "users")
    let configuration = try folder.write(
      """
      server.modules = ("mod_auth", "mod_authn_file", "mod_webdav", "mod_accesslog")
      server.bind = "127.0.0.1"
      server.port = \(port)
      server.document-root = "\(folder.path)/www"
      server.errorlog = "\(folder.path)/error.log"
      server.pid-file = "\(folder.path)/pid"
      server.upload-dirs = ("\(folder.path)")
      accesslog.filename = "\(folder.path)/access.log"
      accesslog.format = "%m %U %s"
      auth.backend = "plain"
      auth.backend.plain.userfile = "\(folder.path)/users"
      auth.require = (
        "/" => ("method" => "basic", "realm" => "tidemark", "require" => "valid-user"))
      mimetype.assign = ("" => "application/octet-stream")
      webdav.activate = "enable"

      """, to: "lighttpd.conf")
    process = try ServerProcess(
      ServerProcess.tool("lighttpd"), ["-D", "-f", configuration], port: port, folder: folder.path,
      install: "the packages lighttpd and lighttpd-mod-webdav")
  }

  /// The requests so far, as `METHOD path status`.
  ///
  /// The server buffers its log and writes it after a hang-up signal. A final request marks how far
  /// the log must extend.
  package func accessLog() throws -> [String] {
    let pid = try String(contentsOfFile: folder.path + "/pid", encoding: .utf8)
    guard let number = Int32(pid.trimmingCharacters(in: .whitespacesAndNewlines)),
      let connection = Port.connect(port)
    else { throw ServerFailure(description: "lighttpd at \(url) no longer runs") }
    let mark = "GET /\(Self.mark)\(UUID().uuidString)"
    Wire.send(
      Array("\(mark) HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n".utf8), to: connection
    )
    _ = Wire.all(from: connection)
    close(connection)
    let end = Date(timeIntervalSinceNow: Patience.seconds)
    while Date() < end {
      kill(number, SIGHUP)
      let text = try String(contentsOfFile: folder.path + "/access.log", encoding: .utf8)
      let lines = text.split(separator: "\n").map(String.init)
      if let end = lines.firstIndex(where: { $0.hasPrefix(mark) }) {
        return lines[..<end].filter { !$0.contains(Self.mark) }
      }
      poll(nil, 0, 20)
    }
    throw ServerFailure(description: "lighttpd at \(url) does not write its log")
  }

  private static let mark = "end-of-log-"
}

import Foundation
import Platform

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Apache with mod_dav_fs and basic authentication, on a port and in a folder of its own.
package final class ApacheServer: FileServer {
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
    try FileManager.default.createDirectory(
      atPath: folder.path + "/locks", withIntermediateDirectories: true)
    // The SHA-1 of the password: Apache does not accept plain ones.
    try folder.write("\(ServerLogin.user):{SHA}8bWpHU1q1SPyYQEUWRwAfnXRUIQ=\n", to: "users")
    // It does not serve as root, so another user needs access to these folders.
    for path in [folder.path, folder.path + "/www", files, folder.path + "/locks"] {
      try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: path)
    }
    let configuration = try folder.write(
      Self.configuration(port: port, folder: folder.path), to: "httpd.conf")
    process = try ServerProcess(
      ServerProcess.tool("apache2", "httpd"), ["-D", "FOREGROUND", "-f", configuration], port: port,
      folder: folder.path, install: "the package apache2-bin (macOS: httpd)")
  }

  private static func configuration(port: UInt16, folder: String) -> String {
    let modules = ["/usr/lib/apache2/modules", "/opt/homebrew/lib/httpd/modules"].first {
      FileManager.default.fileExists(atPath: $0)
    }
    let names = [
      "mpm_event", "authn_core", "authn_file", "authz_core", "authz_user", "auth_basic", "dav",
      "dav_fs",
    ]
    // Modules that some distributions build in cannot be loaded, and have no file.
    let loads = names.compactMap { name -> String? in
      guard let modules else { return nil }
      let file = "\(modules)/mod_\(name).so"
      guard FileManager.default.fileExists(atPath: file) else { return nil }
      return "LoadModule \(name)_module \(file)"
    }
    return """
      \(loads.joined(separator: "\n"))
      \(geteuid() == 0 ? "User nobody\nGroup #65534" : "")
      ServerRoot "\(folder)"
      ServerName 127.0.0.1
      Listen 127.0.0.1:\(port)
      PidFile "\(folder)/pid"
      DefaultRuntimeDir "\(folder)"
      ErrorLog "\(folder)/error.log"
      StartServers 1
      ServerLimit 2
      ThreadsPerChild 16
      MaxRequestWorkers 32
      KeepAlive On
      MaxKeepAliveRequests 0
      LimitRequestBody 0
      DocumentRoot "\(folder)/www"
      DavLockDB "\(folder)/locks/db"
      <Directory "\(folder)/www">
        Dav On
        AuthType Basic
        AuthName tidemark
        AuthUserFile "\(folder)/users"
        Require valid-user
      </Directory>

      """
  }
}

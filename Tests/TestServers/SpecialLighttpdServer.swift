import Foundation

/// lighttpd with mod_webdav in variants that few tests need: TLS, and digest authentication.
package final class SpecialLighttpdServer: Sendable {
  /// The variants.
  package enum Kind: Sendable {
    /// TLS with one of the authority's certificates; no login.
    case tls(certificate: String, wantsClient: Bool, newest: String)
    /// Digest authentication alone, with `MD5` or `SHA-256`.
    case digest(algorithm: String)
  }

  /// The URL of the WebDAV folder, without a slash at the end.
  package let url: String
  /// The folder on disk that the URL shows.
  package let files: String

  private let folder: TemporaryDirectory
  private let process: ServerProcess

  /// Starts a server.
  ///
  /// Throws `ServerFailure` if it is not installed or does not run.
  package init(_ kind: Kind, authority: Authority? = nil) throws {
    folder = try TemporaryDirectory()
    let port = try Port.free()
    files = folder.path + "/www/dav"
    try FileManager.default.createDirectory(atPath: files, withIntermediateDirectories: true)
    let login = "\(ServerLogin.user):\(ServerLogin.password)"
    try folder.write("\(login)\n", to: "users")
    let extra: String
    switch kind {
    case .tls(let certificate, let wantsClient, let newest):
      guard let authority else { throw ServerFailure(description: "TLS needs an authority") }
      url = "https://127.0.0.1:\(port)/dav"
      // Only then: with it lighttpd does not serve an expired certificate.
      let client = """
        ssl.ca-file = "\(authority.path("ca.pem"))"
        ssl.verifyclient.activate = "enable"
        ssl.verifyclient.enforce = "enable"
        """
      extra = """
        server.modules += ("mod_openssl")
        ssl.engine = "enable"
        ssl.pemfile = "\(authority.path(certificate + ".pem"))"
        ssl.privkey = "\(authority.path(certificate + ".key"))"
        \(wantsClient ? client : "")
        ssl.openssl.ssl-conf-cmd = ("MaxProtocol" => "\(newest)")
        """
    case .digest(let algorithm):
      url = "http://127.0.0.1:\(port)/dav"
      extra = """
        server.modules += ("mod_auth", "mod_authn_file")
        auth.backend = "plain"
        auth.backend.plain.userfile = "\(folder.path)/users"
        auth.require = ("/" => (
          "method" => "digest", "algorithm" => "\(algorithm)", "realm" => "tide mark",
          "require" => "valid-user"))
        """
    }
    let configuration = try folder.write(
      """
      server.modules = ("mod_webdav")
      server.bind = "127.0.0.1"
      server.port = \(port)
      server.document-root = "\(folder.path)/www"
      server.errorlog = "\(folder.path)/error.log"
      server.upload-dirs = ("\(folder.path)")
      mimetype.assign = ("" => "application/octet-stream")
      webdav.activate = "enable"
      \(extra)

      """, to: "lighttpd.conf")
    process = try ServerProcess(
      ServerProcess.tool("lighttpd"), ["-D", "-f", configuration], port: port, folder: folder.path,
      install: "the packages lighttpd, lighttpd-mod-webdav and lighttpd-mod-openssl")
  }
}

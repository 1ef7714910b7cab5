import Foundation

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// nginx with its dav module, dav-ext for listings, and basic authentication, on a port and in a
/// folder of its own.
package final class NginxServer: FileServer {
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
    try folder.write("\(ServerLogin.user):{PLAIN}\(ServerLogin.password)\n", to: "users")
    let configuration = try folder.write(
      """
      load_module /usr/lib/nginx/modules/ngx_http_dav_ext_module.so;
      \(geteuid() == 0 ? "user root;" : "")
      daemon off;
      worker_processes 1;
      pid "\(folder.path)/pid";
      error_log "\(folder.path)/error.log";
      events { worker_connections 512; }
      http {
        access_log off;
        client_max_body_size 0;
        client_body_temp_path "\(folder.path)/bodies";
        proxy_temp_path "\(folder.path)/proxy";
        fastcgi_temp_path "\(folder.path)/fastcgi";
        scgi_temp_path "\(folder.path)/scgi";
        uwsgi_temp_path "\(folder.path)/uwsgi";
        server {
          listen 127.0.0.1:\(port);
          root "\(folder.path)/www";
          auth_basic tidemark;
          auth_basic_user_file "\(folder.path)/users";
          dav_methods PUT DELETE MKCOL COPY MOVE;
          dav_ext_methods PROPFIND OPTIONS;
        }
      }

      """, to: "nginx.conf")
    process = try ServerProcess(
      ServerProcess.tool("nginx"), ["-e", "\(folder.path)/error.log", "-c", configuration],
      port: port, folder: folder.path,
      install: "the packages nginx and libnginx-mod-http-dav-ext")
  }
}

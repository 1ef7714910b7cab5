import HTTPTransport
import ObjectStore
import TestServers

/// The stores that the contract is checked on.
enum Backend: String, CaseIterable, Sendable {
  case directory, lighttpd, rclone

  /// An empty store, and what must live as long as it is used.
  func open() throws -> (store: any ObjectStore, owner: any Sendable) {
    switch self {
    case .directory:
      let folder = try TemporaryDirectory()
      return (DirectoryStore(path: folder.path + "/new/store", pageSize: 3), folder)
    case .lighttpd:
      let server = try LighttpdServer()
      let store = WebDAVStore(
        url: server.url + "/new/store", login: (LighttpdServer.user, LighttpdServer.password),
        transport: HTTPTransport())
      return (store, server)
    case .rclone:
      let server = try RcloneS3Server()
      return (Self.s3(server), server)
    }
  }

  static func s3(
    _ server: RcloneS3Server, bucket: String = "logs",
    secret: String = RcloneS3Server.secretAccessKey
  ) -> S3Store {
    S3Store(
      bucket: bucket, prefix: "some/prefix", service: S3Service(endpoint: server.url),
      credentials: S3Credentials(accessKeyID: RcloneS3Server.accessKeyID, secretAccessKey: secret),
      transport: HTTPTransport(), pageSize: 3)
  }
}

import Foundation
import HTTPTransport
import ObjectStore
import Platform
import TestServers
import TestSupport
import Testing

@testable import Simulation

/// The stores on which the contract is tested.
enum Backend: String, CaseIterable, Sendable {
  case directory, lighttpd, apache, nginx, wsgidav
  case rcloneWebDAV = "rclone webdav"
  case rcloneS3 = "rclone s3"
  /// The store of the simulation.
  case model

  /// The stores that users have.
  static let allCases: [Backend] = [
    .directory, .lighttpd, .apache, .nginx, .wsgidav, .rcloneWebDAV, .rcloneS3,
  ]
  /// The stores that keep the contract.
  static let contracted = allCases + [.model]

  /// An empty store, and the folder of its objects on disk.
  struct Opened: Sendable {
    let store: any ObjectStore
    /// Created with the first object, if a server creates it.
    let files: String
    /// Kept alive as long as this value.
    var owner: (any Sendable)?

    /// Creates objects of one byte, directly on disk if possible.
    func plant(_ keys: [String], in folder: String) async throws {
      guard !files.isEmpty else {
        for key in keys { _ = try await store.put(key, [1]) }
        return
      }
      try makeFolder(folder)
      for key in keys { try Data([1]).write(to: file(key)) }
    }

    /// The file of an object on disk.
    func file(_ key: String) -> URL { URL(filePath: "\(files)/\(key)") }

    /// Creates a folder on disk to which both the test and the server can write.
    ///
    /// Fill it before the first request to the server: rclone caches what it has read.
    func makeFolder(_ key: String) throws {
      try FileManager.default.createDirectory(at: file(key), withIntermediateDirectories: true)
      let store = URL(filePath: files)
      for folder in [store.deletingLastPathComponent(), store, file(key)] {
        try FileManager.default.setAttributes(
          [.posixPermissions: 0o777], ofItemAtPath: folder.path)
      }
    }
  }

  func open(pageSize: Int = 3) throws -> Opened {
    if self == .model {
      return Opened(store: StoreClient(ModelStore(.bucket), pageSize: pageSize), files: "")
    }
    let place = Self.newPlace()
    guard let server = try shared.server() else {
      let folder = try TemporaryDirectory()
      let files = folder.path + "/" + place
      let store = DirectoryStore(path: files, pageSize: pageSize, machine: .current)
      _ = try store.makeRoot()
      return Opened(store: store, files: files, owner: folder)
    }
    return Opened(
      store: store(at: server.url, place, pageSize: pageSize),
      files: "\(server.files)/\(self == .rcloneS3 ? "logs/" : "")\(place)")
  }

  /// An empty store behind a proxy.
  func open(through choice: @escaping FaultProxy.Choice) throws -> (Opened, FaultProxy) {
    let place = Self.newPlace()
    let server = try #require(try shared.server())
    let proxy = try FaultProxy(to: server.url, choice)
    return (Opened(store: store(at: proxy.url, place, pageSize: 1000), files: ""), proxy)
  }

  /// The stores reached over HTTP.
  static let served = allCases.filter { $0 != .directory }

  private func store(at url: String, _ place: String, pageSize: Int) -> any ObjectStore {
    if self == .rcloneS3 { return Self.s3(url, prefix: place, pageSize: pageSize) }
    return WebDAVStore(
      url: "\(url)/\(place)", login: (ServerLogin.user, ServerLogin.password),
      transport: .patient())
  }

  /// A folder that no other test has, below one that is missing as well.
  private static func newPlace() -> String {
    "\(String(UInt64.random(in: .min ... .max), radix: 36))/store"
  }

  static func s3(
    _ url: String, bucket: String = "logs", secret: String = RcloneS3Server.secretAccessKey,
    prefix: String = "some/prefix", pageSize: Int = 3
  ) -> S3Store {
    S3Store(
      bucket: bucket, prefix: prefix, service: S3Service(endpoint: url),
      credentials: S3Credentials(accessKeyID: RcloneS3Server.accessKeyID, secretAccessKey: secret),
      transport: .patient(), pageSize: pageSize, now: Timestamp.now)
  }
}

/// A server that is started when the first test needs it, and serves all tests until they end.
private final class SharedServer: Sendable {
  private let start: @Sendable () throws -> (any FileServer)?
  private let running = Guarded<(any FileServer)?>(nil)

  init(_ start: @escaping @Sendable () throws -> (any FileServer)?) { self.start = start }

  /// The server; nil if there is none to start.
  func server() throws -> (any FileServer)? {
    try running.withLock { running in
      if running == nil { running = try start() }
      return running
    }
  }
}

extension Backend {
  private static let none = SharedServer { nil }
  private static let lighttpdServer = SharedServer { try LighttpdServer() }
  private static let apacheServer = SharedServer { try ApacheServer() }
  private static let nginxServer = SharedServer { try NginxServer() }
  private static let wsgidavServer = SharedServer { try WsgiDAVServer() }
  private static let rcloneWebDAVServer = SharedServer { try RcloneWebDAVServer() }
  private static let rcloneS3Server = SharedServer { try RcloneS3Server() }

  private var shared: SharedServer {
    switch self {
    case .directory, .model: Self.none
    case .lighttpd: Self.lighttpdServer
    case .apache: Self.apacheServer
    case .nginx: Self.nginxServer
    case .wsgidav: Self.wsgidavServer
    case .rcloneWebDAV: Self.rcloneWebDAVServer
    case .rcloneS3: Self.rcloneS3Server
    }
  }
}

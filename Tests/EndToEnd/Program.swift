import Foundation
import ObjectStore
import TestServers
import TestSupport
import Testing

/// The built program, run as a user runs it, in a separate home.
struct Program {
  let folder: TemporaryDirectory
  var environment: [String: String]

  /// Beside the test bundle, where SwiftPM puts both.
  static let path: String = {
    let bundle = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    let own = URL(filePath: bundle ?? CommandLine.arguments[0]).deletingLastPathComponent()
    return own.appending(path: "tidemark").path
  }()

  init(_ store: [String: String] = [:]) throws {
    folder = try TemporaryDirectory()
    environment = ["PATH": "/usr/bin:/bin", "HOME": folder.path]
    environment["TIDEMARK_HOME"] = folder.path + "/home"
    environment.merge(store) { $1 }
    environment["URL"] = "file://\(folder.path)/store"
    environment["FOLDER"] = folder.path
  }

  /// With a store; a shell finds it as `$URL`, its objects in `$FILES`, and our folder as
  /// `$FOLDER`.
  init(_ endpoint: Endpoint) throws {
    try self.init(endpoint.environment)
    environment["URL"] = endpoint.url
    environment["FILES"] = endpoint.files
  }

  var home: String { folder.path + "/home" }

  /// Runs it to its end.
  @discardableResult
  func run(_ arguments: String..., input: [UInt8] = []) async throws -> Command.Result {
    try await run(arguments, input: input)
  }

  /// Runs it to its end.
  @discardableResult
  func run(_ arguments: [String], input: [UInt8] = []) async throws -> Command.Result {
    try await Command([Self.path] + arguments, environment: environment, input: input).run()
  }

  /// Records a program and sends the session.
  ///
  /// Not by the recorder's own upload: on a busy machine that continues in the background, and a
  /// later upload leaves the work to it.
  func record(_ command: String...) async throws {
    let recorded = try await run(["run", "--no-upload", "--"] + command)
    #expect(recorded.status == 0, "\(recorded.errors)")
    let sent = try await run("upload")
    #expect(sent.status == 0, "\(sent.errors)")
  }

  /// Sets it up with its store, by default a folder, and changes the configuration.
  func configure(_ change: (String) -> String) async throws {
    let ready = try await run("init", environment["URL"] ?? "")
    #expect(ready.status == 0, "\(ready.errors)")
    let path = home + "/tidemark.yaml"
    try change(String(contentsOfFile: path, encoding: .utf8))
      .write(toFile: path, atomically: true, encoding: .utf8)
  }

  /// Runs a shell script in which `$T` is the program.
  func shell(_ script: String) async throws -> Command.Result {
    var environment = environment
    environment["T"] = Self.path
    return try await Command(["/bin/sh", "-c", script], environment: environment).run()
  }

  /// A shell command that dates the ends and the seals of all local sessions to the year 2001, so
  /// that any age has passed.
  static let makesLocalSessionsOld = """
    find "$TIDEMARK_HOME/sessions" -name '*.json' \\
      -exec sed -i -E '/"(endedAt|sealedAt)"/s/"[0-9]{4}-/"2001-/' {} +
    """

  /// Makes all local sessions old, see ``makesLocalSessionsOld``.
  func makeLocalSessionsOld() async throws {
    let result = try await shell(Self.makesLocalSessionsOld)
    #expect(result.status == 0, "\(result.errors)")
  }

  /// Waits until a number of remote sessions are more than a second old by the store's clock, which
  /// dates its objects.
  func waitUntilOldRemotely(_ count: Int) async throws {
    let result = try await shell(
      """
      timeout 1800 sh -c '
        until old=$($T reap --remote --older-than 1s --dry-run) || exit
          [ "$(echo "$old" | grep -c "^would delete remote ")" = \(count) ]; do :; done'
      """)
    #expect(result.status == 0, "\(result.errors)")
  }

  /// The sessions of `list --json`.
  func list(_ arguments: String...) async throws -> [[String: Any]] {
    let result = try await run(["list", "--json"] + arguments)
    return try result.text.split(separator: "\n").map {
      try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any] ?? [:]
    }
  }

  /// The bytes of a session's log on this machine.
  func log(_ id: String) throws -> [UInt8] {
    let day = "\(id.prefix(4))-\(id.dropFirst(4).prefix(2))-\(id.dropFirst(6).prefix(2))"
    return Array(try Data(contentsOf: URL(filePath: "\(home)/sessions/\(day)/\(id).log")))
  }
}

/// A store to upload to, alive as long as this value.
struct Endpoint {
  enum Kind: String, CaseIterable { case directory, webdav, s3 }

  let url: String
  let environment: [String: String]
  /// The folder of its objects on this machine's disk.
  let files: String
  /// The proxy in front of the server, if any.
  let proxy: FaultProxy?
  private let server: (any Sendable)?

  /// Starts one, with a proxy if there is a choice of faults.
  init(_ kind: Kind, _ choice: FaultProxy.Choice? = nil) throws {
    switch kind {
    case .directory:
      let folder = try TemporaryDirectory()
      proxy = nil
      url = "file://\(folder.path)/store"
      files = folder.path
      environment = [:]
      server = folder
    case .webdav:
      let lighttpd = try LighttpdServer()
      proxy = try choice.map { try FaultProxy(to: lighttpd.url, $0) }
      url = (proxy?.url ?? lighttpd.url) + "/logs"
      files = lighttpd.files
      environment = [
        "TIDEMARK_WEBDAV_USER": ServerLogin.user,
        "TIDEMARK_WEBDAV_PASSWORD": ServerLogin.password,
      ]
      server = lighttpd
    case .s3:
      let rclone = try RcloneS3Server()
      proxy = try choice.map { try FaultProxy(to: rclone.url, $0) }
      url = "s3://logs/prefix"
      files = rclone.files
      environment = [
        "AWS_ENDPOINT_URL": proxy?.url ?? rclone.url, "AWS_REGION": "us-east-1",
        "AWS_ACCESS_KEY_ID": RcloneS3Server.accessKeyID,
        "AWS_SECRET_ACCESS_KEY": RcloneS3Server.secretAccessKey,
      ]
      server = rclone
    }
  }

  /// Prepares a folder as the store, like `init`, for a test that writes the configuration itself.
  func prepare() throws {
    guard url.hasPrefix("file://") else { return }
    try DirectoryStore.prepared(at: String(url.dropFirst("file://".count)))
  }

  /// The segments in it.
  func segments() throws -> [String] {
    let found = FileManager.default.enumerator(atPath: files)?.compactMap { $0 as? String } ?? []
    return found.filter { $0.hasSuffix(".log.zst") }.map { "\(files)/\($0)" }.sorted()
  }
}

import Foundation
import TestServers

/// The built program, run as a user runs it, in a home of its own.
struct Program {
  /// What a run came to.
  struct Result {
    let status: Int32
    let output: [UInt8]
    let errors: String

    var text: String { String(decoding: output, as: UTF8.self) }
  }

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
  }

  var home: String { folder.path + "/home" }

  /// Runs it to its end.
  @discardableResult
  func run(_ arguments: String..., input: [UInt8] = []) async throws -> Result {
    try await Self.run(
      Self.path, arguments, environment: environment, folder: folder.path, input: input)
  }

  /// Runs a shell script in which `$T` is the program.
  func shell(_ script: String) async throws -> Result {
    var environment = environment
    environment["T"] = Self.path
    return try await Self.run(
      "/bin/sh", ["-c", script], environment: environment, folder: folder.path, input: [])
  }

  private static func run(
    _ path: String, _ arguments: [String], environment: [String: String], folder: String,
    input: [UInt8]
  ) async throws -> Result {
    let base = folder + "/" + UUID().uuidString
    try Data(input).write(to: URL(filePath: base + ".in"))
    for name in [".out", ".err"] {
      try Data().write(to: URL(filePath: base + name))
    }
    let process = Process()
    process.executableURL = URL(filePath: path)
    process.arguments = arguments
    process.environment = environment
    process.standardInput = FileHandle(forReadingAtPath: base + ".in")
    process.standardOutput = FileHandle(forWritingAtPath: base + ".out")
    process.standardError = FileHandle(forWritingAtPath: base + ".err")
    // Waiting would take a thread away from all other tests.
    try await withCheckedThrowingContinuation { (done: CheckedContinuation<Void, any Error>) in
      process.terminationHandler = { _ in done.resume() }
      do {
        try process.run()
      } catch {
        process.terminationHandler = nil
        done.resume(throwing: error)
      }
    }
    let signal = process.terminationReason == .uncaughtSignal
    return Result(
      status: signal ? 128 + process.terminationStatus : process.terminationStatus,
      output: Array(try Data(contentsOf: URL(filePath: base + ".out"))),
      errors: try String(contentsOfFile: base + ".err", encoding: .utf8))
  }

  /// The sessions of `list --json`.
  func list(_ arguments: String...) async throws -> [[String: Any]] {
    let result = try await Self.run(
      Self.path, ["list", "--json"] + arguments, environment: environment, folder: folder.path,
      input: [])
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

/// A place to upload to, alive as long as this value.
struct Endpoint {
  enum Kind: String, CaseIterable { case directory, webdav, s3 }

  let url: String
  let environment: [String: String]
  /// Where its objects lie on this machine's disk.
  let files: String
  private let server: (any Sendable)?

  init(_ kind: Kind) throws {
    switch kind {
    case .directory:
      let folder = try TemporaryDirectory()
      url = "file://\(folder.path)/store"
      files = folder.path
      environment = [:]
      server = folder
    case .webdav:
      let lighttpd = try LighttpdServer()
      url = lighttpd.url + "/logs"
      files = lighttpd.files
      environment = [
        "TIDEMARK_WEBDAV_USER": LighttpdServer.user,
        "TIDEMARK_WEBDAV_PASSWORD": LighttpdServer.password,
      ]
      server = lighttpd
    case .s3:
      let rclone = try RcloneS3Server()
      url = "s3://logs/prefix"
      files = rclone.files
      environment = [
        "AWS_ENDPOINT_URL": rclone.url, "AWS_REGION": "us-east-1",
        "AWS_ACCESS_KEY_ID": RcloneS3Server.accessKeyID,
        "AWS_SECRET_ACCESS_KEY": RcloneS3Server.secretAccessKey,
      ]
      server = rclone
    }
  }

  /// The segments that lie there.
  func segments() throws -> [String] {
    let found = FileManager.default.enumerator(atPath: files)?.compactMap { $0 as? String } ?? []
    return found.filter { $0.hasSuffix(".log.zst") }.map { "\(files)/\($0)" }.sorted()
  }
}

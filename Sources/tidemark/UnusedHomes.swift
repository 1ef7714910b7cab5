import Foundation
import Platform
import SessionLog

/// The homes that hold no sessions, so that root's uploads and reaps start no processes for them.
///
/// A process of its own looks for them: a user may have mounted a file system that never answers.
enum UnusedHomes {
  /// After this time the homes that are left count as used.
  private static let longest = Duration.seconds(20)
  /// Maximum bytes of paths.
  private static let limit = 1 << 20

  // MARK: For root

  /// Homes without those that hold no sessions.
  ///
  /// - Throws: ``Platform/SystemError`` if no process can be started.
  static func removed(from homes: [Home]) throws -> [Home] {
    guard !homes.isEmpty else { return [] }
    let unused = try found()
    return homes.filter { !unused.contains($0.path) }
  }

  /// Their paths, as far as they are found in time.
  ///
  /// - Throws: ``Platform/SystemError`` if no process can be started.
  private static func found() throws -> Set<String> {
    try found(
      by: SupervisedProcess(
        HomeProcess.child(["examine", Examine.Subject.unused.rawValue]),
        reading: [.init(STDOUT_FILENO, limit: limit)], for: longest, on: .current))
  }

  /// The paths that a process reports until it ends.
  static func found(by process: SupervisedProcess) throws -> Set<String> {
    var next: SupervisedProcess? = process
    var paths: Set<String> = []
    try SupervisedProcess.run(atOnce: 1) { () -> (String, SupervisedProcess)? in
      defer { next = nil }
      return next.map { ("", $0) }
    } ended: { _, process in
      // The last line may be cut, and name another home.
      let lines = process.outputs[0].bytes.split(separator: 0x0A, omittingEmptySubsequences: false)
      paths = Set(lines.dropLast().map { String(decoding: $0, as: UTF8.self) })
    }
    return paths
  }

  // MARK: In the process

  /// Prints their paths.
  static func report() throws {
    guard Account.current.isRoot, MachineWide.isConfigured else {
      throw Failure(.usage, "'tidemark upload' as root starts this command")
    }
    for home in try MachineWide.homes().homes where try Self.isUnused(home) {
      Console.write(Array("\(home.path)\n".utf8))
    }
  }

  /// Whether a home holds no sessions, as far as its owner can see.
  static func isUnused(_ home: Home) throws -> Bool {
    try home.owner?.assumeRights()
    let folders = [home.sessionsPath, home.openPath, home.path + "/trash"]
    let isUnused = folders.allSatisfy(Directory.isEmpty)
    try Account.resumeOwnRights()
    return isUnused
  }
}

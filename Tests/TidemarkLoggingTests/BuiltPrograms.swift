import Foundation

/// The programs built with the tests.
enum BuiltPrograms {
  /// Their folder.
  static let folder: String = {
    let own = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    return URL(filePath: own ?? CommandLine.arguments[0]).deletingLastPathComponent().path
  }()
}

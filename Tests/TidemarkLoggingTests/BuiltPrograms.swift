import Foundation

/// The programs that were built with the tests.
enum BuiltPrograms {
  /// Where they are.
  static let folder: String = {
    let own = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    return URL(filePath: own ?? CommandLine.arguments[0]).deletingLastPathComponent().path
  }()
}

import Foundation

/// A file whose first line is a secret.
enum SecretFile {
  private static let limit = 64 << 10

  /// The first line; nil if there is none, or the file cannot be read.
  ///
  /// Read with the rights that the process was started with: it may be working for a user whose
  /// sessions are sent to root's store.
  static func firstLine(of path: String) -> String? {
    let data: Data? = withOwnRights {
      guard let file = FileHandle(forReadingAtPath: path) else { return nil }
      return try? file.read(upToCount: limit + 1)
    }
    guard let data, data.count <= limit else { return nil }
    return String(decoding: data, as: UTF8.self).split(whereSeparator: \.isNewline).first
      .map(String.init)
  }
}

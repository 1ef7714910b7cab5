import Foundation
import Platform

/// A file whose first line is a secret.
enum SecretFile {
  private static let limit = 64 << 10

  /// The first line; nil if there is none, or the file cannot be read.
  ///
  /// Read with the rights that the process was started with: it may be working for a user whose
  /// sessions are sent to root's store.
  static func firstLine(of path: String) -> String? {
    let bytes: [UInt8]? = withOwnRights {
      // Opening a pipe would wait for its writer.
      try? OpenFile(path, followsLinks: true).read(at: 0, count: limit + 1)
    }
    guard let bytes, bytes.count <= limit else { return nil }
    return String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline).first
      .map(String.init)
  }
}

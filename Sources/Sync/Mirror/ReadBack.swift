import Foundation
package import Platform
package import SessionLog

/// The last verification of a store by reading sessions back.
package struct ReadBack: Sendable, Equatable, Codable {
  /// When.
  package let at: Timestamp
  /// Sealed sessions that were read back and found complete.
  package let whole: Int
  /// Sealed sessions in total.
  package let sessions: Int

  /// Describes a verification.
  package init(at: Timestamp, whole: Int, of sessions: Int) {
    (self.at, self.whole, self.sessions) = (at, whole, sessions)
  }

  private static func path(_ home: Home) -> String { home.cachePath + "/read-back.json" }

  /// The home's last verification; nil if there was none, or its record is lost.
  package static func load(_ home: Home) -> ReadBack? {
    guard let json = try? AtomicFile.read(path(home)) else { return nil }
    return try? JSONDecoder().decode(ReadBack.self, from: Data(json))
  }

  /// Saves it in the home's cache.
  ///
  /// - Throws: ``Platform/SystemError``.
  package func save(in home: Home) throws {
    let json = try JSONEncoder().encode(self)
    try AtomicFile.write(Array(json) + [0x0a], to: Self.path(home), isDurable: false)
  }
}

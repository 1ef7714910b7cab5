import Foundation
package import Platform
package import SessionLog

/// What was last read back from a store to prove that it is whole.
package struct ReadBack: Sendable, Equatable, Codable {
  /// When.
  package let at: Timestamp
  /// Sealed sessions that were read back and found whole.
  package let whole: Int
  /// Sealed sessions that there were.
  package let sessions: Int

  /// Describes what was read.
  package init(at: Timestamp, whole: Int, of sessions: Int) {
    (self.at, self.whole, self.sessions) = (at, whole, sessions)
  }

  private static func path(_ home: Home) -> String { home.cachePath + "/read-back.json" }

  /// What a home knows of it; nil where nothing was read back, or that was forgotten.
  package static func load(_ home: Home) -> ReadBack? {
    guard let json = try? AtomicFile.read(path(home)) else { return nil }
    return try? JSONDecoder().decode(ReadBack.self, from: Data(json))
  }

  /// Remembers it in the home's cache.
  ///
  /// - Throws: ``Platform/SystemError``.
  package func save(in home: Home) throws {
    let json = try JSONEncoder().encode(self)
    try AtomicFile.write(Array(json) + [0x0a], to: Self.path(home), isDurable: false)
  }
}

import Platform
import SessionLog

/// A home with so many files that reading it takes long.
enum CrowdedHome {
  /// Maximum number of entries that root examines in a folder of another user's home: so many files
  /// take seconds, and any user can make millions.
  private static let mostEntries = 20_000

  /// Rejects such a home of another user, for which the others would have to wait.
  ///
  /// - Throws: ``Failure``; ``Platform/SystemError``.
  static func refuse(_ home: Home) throws {
    guard Account.current.isRoot, home.owner?.isRoot == false else { return }
    guard let folder = try Self.folder(of: home, most: mostEntries) else { return }
    throw Failure(
      .partial,
      "more than \(mostEntries) files in \(folder): not examined; 'tidemark status' of that user does, "
        + "and uploads continue in a process of their own")
  }

  /// A folder with more entries than a maximum; nil if there is none.
  static func folder(of home: Home, most: Int) throws -> String? {
    try [home.openPath, home.quarantinePath].first {
      try Directory.names(in: $0, atMost: most + 1).count > most
    }
  }
}

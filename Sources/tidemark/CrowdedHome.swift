import Platform
import SessionLog

extension Home {
  /// Maximum number of entries that root examines in a folder of another user's home: so many files
  /// take seconds, and any user can make millions.
  private static let mostEntries = 20_000

  /// Rejects a home of another user with so much in it that the others would have to wait for it.
  ///
  /// - Throws: ``Failure``; ``Platform/SystemError``.
  func expectReadable() throws {
    guard Account.current.isRoot, owner?.isRoot == false else { return }
    guard let folder = try crowdedFolder(most: Self.mostEntries) else { return }
    throw Failure(
      .partial,
      "more than \(Self.mostEntries) files in \(folder): not examined; 'tidemark status' of that user "
        + "does, and uploads continue in a process of their own")
  }

  /// A folder with more entries than a maximum; nil if there is none.
  func crowdedFolder(most: Int) throws -> String? {
    try [openPath, quarantinePath].first {
      try Directory.names(in: $0, atMost: most + 1).count > most
    }
  }
}

import Platform
import SessionLog

/// A home with so many files that reading it takes long.
enum CrowdedHome {
  /// Maximum of what root examines in another user's home: more takes seconds, and any user can make
  /// any amount.
  struct Limits {
    /// Entries of a folder that has one for each session.
    var entries = 20_000
    /// Folders of days, and files in them.
    var files = 200_000
    /// Total length of the sidecars of all days.
    var sidecars: ByteCount = 64 << 20
  }

  /// Rejects such a home of another user, for which the others would have to wait.
  ///
  /// - Throws: ``Failure``; ``Platform/SystemError``.
  static func refuse(_ home: Home) throws {
    guard Account.current.isRoot, home.owner?.isRoot == false else { return }
    guard let excess = try Self.excess(in: home) else { return }
    throw Failure(
      .partial,
      "\(excess): not examined; 'tidemark status' of that user does, and uploads continue in a process "
        + "of their own")
  }

  /// What a home has more of than a limit, for a person; nil if there is nothing.
  static func excess(in home: Home, over limits: Limits = Limits()) throws -> String? {
    for folder in [home.openPath, home.quarantinePath]
    where try Directory.names(in: folder, atMost: limits.entries + 1).count > limits.entries {
      return "more than \(limits.entries) files in \(folder)"
    }
    for folder in [home.sessionsPath, home.path + "/trash"] {
      if let excess = excess(inDaysOf: folder, over: limits) { return excess }
    }
    return nil
  }

  /// What the folders of days in a folder have too much of.
  private static func excess(inDaysOf folder: String, over limits: Limits) -> String? {
    // A day may be anywhere, as it may for those who read it.
    // What cannot be read takes no time, and those who need it say so.
    func names(in path: String) -> [String] {
      (try? Directory.names(in: path, atMost: limits.files + 1, followsLinks: true)) ?? []
    }
    let days = names(in: folder)
    var files = days.count
    var sidecars: ByteCount = 0
    for day in days {
      let found = names(in: "\(folder)/\(day)")
      files += found.count
      guard files <= limits.files else { break }
      for name in found where name.hasSuffix(".json") {
        sidecars += ByteCount((try? FileStatus("\(folder)/\(day)/\(name)"))?.length ?? 0)
        guard sidecars <= limits.sidecars else {
          return "more than \(limits.sidecars.text) of sidecars in \(folder)"
        }
      }
    }
    return files > limits.files ? "more than \(limits.files) files in \(folder)" : nil
  }
}

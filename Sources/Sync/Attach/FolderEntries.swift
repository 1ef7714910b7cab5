import Platform

/// The entries of a folder with their owners, to tell whose files were renamed between two looks.
struct FolderEntries {
  private struct Entry: Hashable {
    let name: [UInt8]
    let inode: UInt64
  }

  /// The owners; nil for an entry that was gone before that could be read.
  private var owners: [Entry: UInt32?] = [:]

  /// Reads a folder; nil if it cannot be read.
  init?(of path: String) {
    do {
      let folder = try Descriptor(openingDirectory: path)
      try folder.forEachEntry { entry in
        owners[Entry(name: Array(entry.name), inode: entry.inode)] =
          .some((try? folder.status(ofBytes: entry.name))?.owner)
      }
    } catch {
      return nil
    }
  }

  /// The owners of entries that only one of two looks has, as far as they are known.
  ///
  /// - Parameter known: the owners of files by inode number, for those that are renamed too fast to ask.
  func owners(ofChangesTo later: FolderEntries, _ known: [UInt64: UInt32]) -> Set<UInt32> {
    var byNumber = known
    for (entry, owner) in owners.merging(later.owners, uniquingKeysWith: { $0 ?? $1 }) {
      if let owner { byNumber[entry.inode] = owner }
    }
    let changed = Set(owners.keys).symmetricDifference(later.owners.keys)
    return Set(changed.compactMap { byNumber[$0.inode] })
  }
}

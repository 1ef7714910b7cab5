import Platform

/// The entries of a folder with their owners, to tell whose files were renamed between two looks.
struct FolderEntries {
  private struct Entry: Hashable {
    let name: [UInt8]
    let inode: UInt64
    let owner: UInt32
  }

  private var entries: Set<Entry> = []

  /// Reads a folder; nil if it cannot be read.
  ///
  /// An entry that is gone at once is left out: either look sees its file elsewhere.
  init?(of path: String) {
    do {
      let folder = try Descriptor(openingDirectory: path)
      try folder.forEachEntry { entry in
        guard let status = folder.status(ofBytes: entry.name) else { return }
        let name = Array(entry.name)
        if name != Array(".".utf8), name != Array("..".utf8) {
          entries.insert(Entry(name: name, inode: status.inode, owner: status.owner))
        }
      }
    } catch {
      return nil
    }
  }

  /// The owners of entries that only one of two looks has.
  func owners(ofChangesTo later: FolderEntries) -> Set<UInt32> {
    Set(entries.symmetricDifference(later.entries).map(\.owner))
  }
}

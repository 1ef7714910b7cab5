package import Platform

/// One page of a listing.
package struct ListPage: Sendable, Hashable {
  /// The objects directly at the prefix.
  package var objects: [ObjectEntry]
  /// The folders directly at the prefix: full keys that end with `/`.
  package var directories: [String]
  /// The `after` argument for the next page; nil if this is the last.
  package var next: String?
  /// The server's clock when it answered.
  package var serverDate: ServerTime?

  /// Makes a page.
  package init(
    objects: [ObjectEntry] = [], directories: [String] = [], next: String? = nil,
    serverDate: ServerTime? = nil
  ) {
    self.objects = objects
    self.directories = directories
    self.next = next
    self.serverDate = serverDate
  }

  /// The most entries that a listing is read for; no folder of ours has more.
  static let most = 1 << 20

  /// Number of entries.
  var count: Int { objects.count + directories.count }

  /// Whether an object or a folder is named twice.
  var hasRepeatedNames: Bool {
    func repeats(_ names: [String]) -> Bool {
      // Names are nearly always sorted, which saves the set.
      let isAscending = zip(names, names.dropFirst()).allSatisfy { $0 < $1 }
      return !isAscending && Set(names).count < names.count
    }
    return repeats(objects.map(\.key)) || repeats(directories)
  }

  mutating func append(_ page: ListPage) {
    objects += page.objects
    // A server that splits a page within a folder names the folder on both pages.
    directories += page.directories.filter { !directories.suffix(1).contains($0) }
    next = page.next
  }
}

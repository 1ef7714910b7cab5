package import Platform

/// One page of a listing.
package struct ListPage: Sendable, Hashable {
  /// The objects directly at the prefix.
  package var objects: [ObjectEntry]
  /// The folders directly at the prefix: full keys that end with `/`.
  package var directories: [String]
  /// What to pass as `after` for the next page; nil when this is the last.
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

  /// More entries than any folder of ours has: no listing is read on beyond them.
  static let most = 1 << 20

  /// How many entries there are.
  var count: Int { objects.count + directories.count }

  /// Whether an object or a folder is named twice.
  var hasRepeatedNames: Bool {
    func repeats(_ names: [String]) -> Bool {
      // Nearly always in order, and then without a set.
      let isAscending = zip(names, names.dropFirst()).allSatisfy { $0 < $1 }
      return !isAscending && Set(names).count < names.count
    }
    return repeats(objects.map(\.key)) || repeats(directories)
  }

  mutating func append(_ page: ListPage) {
    objects += page.objects
    // A server that cuts a page inside a folder names the folder on both.
    directories += page.directories.filter { !directories.suffix(1).contains($0) }
    next = page.next
  }
}

/// A path with wildcards: ``Glob`` in each component, and `**` for any number of folders.
package struct SourcePattern: Sendable, Equatable, CustomStringConvertible {
  /// The pattern as written.
  package let description: String
  /// The folder before the first wildcard, where the search starts and which links may not leave.
  let root: String
  /// The components below ``root``.
  private let names: [Name]

  private enum Name: Sendable, Equatable {
    case folders
    case glob(Glob)
  }

  /// Parses a pattern; nil if it does not begin with `/`, or names no file.
  package init?(_ text: String) {
    let parts = text.split(separator: "/")
    guard text.hasPrefix("/"), !text.hasSuffix("/"), !parts.isEmpty,
      !parts.contains("."), !parts.contains(".."), parts.count < UInt64.bitWidth
    else { return nil }
    let fixed = parts.dropLast().prefix { !Glob.isOne($0.utf8) }
    description = text
    root = "/" + fixed.joined(separator: "/")
    names = parts.dropFirst(fixed.count).map { $0 == "**" ? .folders : .glob(Glob($0.utf8)) }
  }

  /// Match positions reached in the pattern: one bit for each component that may be next.
  struct Progress {
    fileprivate var positions: UInt64

    /// Whether what matches from here matches from another one, too.
    func isWithin(_ other: Progress?) -> Bool { positions & ~(other?.positions ?? 0) == 0 }

    /// The positions of both.
    func and(_ other: Progress?) -> Progress {
      Progress(positions: positions | (other?.positions ?? 0))
    }
  }

  /// The positions at the root.
  var start: Progress { skippingFolders(1) }

  /// The positions after entering a folder; nil if nothing below it can match.
  func entering(_ folder: UnsafeBufferPointer<UInt8>, from progress: Progress) -> Progress? {
    var next: UInt64 = 0
    for position in names.indices where progress.positions & 1 << position != 0 {
      switch names[position] {
      case .folders: if folder.first != UInt8(ascii: ".") { next |= 1 << position }
      case .glob(let glob): if glob.matches(folder) { next |= 1 << (position + 1) }
      }
    }
    // After the last component, no file below can match.
    next &= 1 << names.count - 1
    return next == 0 ? nil : skippingFolders(next)
  }

  /// Whether files in a folder below the root may match.
  func enters(_ folder: String) -> Bool {
    let below = folder.dropFirst(root == "/" ? 0 : root.utf8.count).split(separator: "/")
    var progress: Progress? = start
    for name in below {
      var name = String(name)
      progress = progress.flatMap { progress in name.withUTF8 { entering($0, from: progress) } }
    }
    return progress != nil
  }

  /// Whether a file matches at these positions.
  func matches(_ file: UnsafeBufferPointer<UInt8>, at progress: Progress) -> Bool {
    guard progress.positions & 1 << (names.count - 1) != 0, let last = names.last else {
      return false
    }
    return switch last {
    case .folders: file.first != UInt8(ascii: ".")
    case .glob(let glob): glob.matches(file)
    }
  }

  /// Adds the positions reached when `**` matches no folder.
  private func skippingFolders(_ positions: UInt64) -> Progress {
    var all = positions
    for position in names.indices.dropLast()
    where all & 1 << position != 0 && names[position] == .folders {
      all |= 1 << (position + 1)
    }
    return Progress(positions: all)
  }

  /// Whether a whole path matches.
  func matches(_ path: String) -> Bool { captures(of: path) != nil }

  /// The text matched by each `*` and `**`; nil if the path does not match.
  func captures(of path: String) -> [String]? {
    let prefix = root == "/" ? "/" : root + "/"
    guard path.hasPrefix(prefix) else { return nil }
    return captures(path.dropFirst(prefix.count).split(separator: "/")[...], names[...])
  }

  private func captures(_ parts: ArraySlice<Substring>, _ names: ArraySlice<Name>) -> [String]? {
    guard let name = names.first else { return parts.isEmpty ? [] : nil }
    switch name {
    case .glob(let glob):
      guard let part = parts.first, let found = glob.captures(of: Array(part.utf8)),
        let rest = captures(parts.dropFirst(), names.dropFirst())
      else { return nil }
      let bytes = Array(part.utf8)
      return found.map { String(decoding: bytes[$0], as: UTF8.self) } + rest
    case .folders:
      // At the end, `**` also matches the file.
      let least = names.count == 1 ? 1 : 0
      guard least <= parts.count else { return nil }
      for count in least...parts.count {
        let taken = parts.prefix(count)
        guard !taken.contains(where: { $0.hasPrefix(".") }) else { return nil }
        if let rest = captures(parts.dropFirst(count), names.dropFirst()) {
          return [taken.joined(separator: "/")] + rest
        }
      }
      return nil
    }
  }
}

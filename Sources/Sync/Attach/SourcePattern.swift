/// A path with wildcards: ``Glob`` in each name, and `**` for any number of folders.
package struct SourcePattern: Sendable, Equatable, CustomStringConvertible {
  /// As it was written.
  package let description: String
  /// The folder before the first wildcard: what is looked at, and what links may not lead out of.
  let root: String
  /// What is below it.
  private let names: [Name]

  private enum Name: Sendable, Equatable {
    case folders
    case glob(Glob)
  }

  /// Reads a pattern; nil for one that does not begin with `/`, or names no file.
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

  /// How far a path has come in the pattern, in as many ways as there are: a bit for each name that
  /// may be next.
  struct Progress {
    fileprivate var positions: UInt64
  }

  /// At the root.
  var start: Progress { skippingFolders(1) }

  /// After one more folder; nil where nothing below it can match.
  func entering(_ folder: UnsafeBufferPointer<UInt8>, from progress: Progress) -> Progress? {
    var next: UInt64 = 0
    for position in names.indices where progress.positions & 1 << position != 0 {
      switch names[position] {
      case .folders: if folder.first != UInt8(ascii: ".") { next |= 1 << position }
      case .glob(let glob): if glob.matches(folder) { next |= 1 << (position + 1) }
      }
    }
    // Behind the last name nothing is left for a file.
    next &= 1 << names.count - 1
    return next == 0 ? nil : skippingFolders(next)
  }

  /// Whether a file at this point matches.
  func matches(_ file: UnsafeBufferPointer<UInt8>, at progress: Progress) -> Bool {
    guard progress.positions & 1 << (names.count - 1) != 0, let last = names.last else {
      return false
    }
    return switch last {
    case .folders: file.first != UInt8(ascii: ".")
    case .glob(let glob): glob.matches(file)
    }
  }

  /// Positions reached, also by `**` standing for no folder at all.
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

  /// What each `*` and `**` stands for in a path; nil where it does not match.
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
      // At the end it stands for the file as well.
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

package import Platform

/// Files of other programs to attach: an entry of the configuration's `sources:`.
package struct LogSource: Sendable, Equatable {
  /// The files to attach.
  package var path: SourcePattern
  /// The files to leave out.
  package var exclude: [Exclusion]
  /// The name of the program that writes them; `$1` is replaced by the text matched by the path's
  /// first `*`, and so on.
  package var app: String?
  /// The user the program runs as, with the same placeholders; by default the file's owner.
  package var user: String?
  /// The category of records that name none, with the same placeholders.
  package var category: String?
  /// Time without growth after which a session ends.
  package var idleEnd: Duration
  /// The default: one day.
  package static let defaultIdleEnd = Duration.days(1)
  /// Whether to follow links that lead out of the folder before the first `*`.
  package var followsLinks: Bool
  /// The largest unpacked size of a compressed file; nil for a limit derived from its own size.
  package var maxSize: ByteCount?

  /// Describes a source.
  package init(
    path: SourcePattern, exclude: [Exclusion] = [], app: String? = nil, user: String? = nil,
    category: String? = nil, idleEnd: Duration = Self.defaultIdleEnd, followsLinks: Bool = false
  ) {
    self.path = path
    self.exclude = exclude
    self.app = app
    self.user = user
    self.category = category
    self.idleEnd = idleEnd
    self.followsLinks = followsLinks
  }

  /// Files or folders to leave out.
  package enum Exclusion: Sendable, Equatable {
    /// A name with wildcards, in any folder.
    case name(Glob)
    /// A whole path.
    case path(SourcePattern)

    /// Parses a name or, if it begins with `/`, a path; nil if that path is invalid.
    package init?(_ text: String) {
      if text.hasPrefix("/") {
        guard let path = SourcePattern(text) else { return nil }
        self = .path(path)
      } else {
        guard !text.isEmpty, !text.contains("/") else { return nil }
        self = .name(Glob(text.utf8))
      }
    }
  }

  /// Whether the file or folder at a path is left out.
  func excludes(_ path: String) -> Bool {
    var name = String(AttachedFile.name(of: path))
    return name.withUTF8 { excludes($0, in: AttachedFile.folder(of: path)) }
  }

  /// Whether a file or folder is left out.
  func excludes(_ name: UnsafeBufferPointer<UInt8>, in folder: String) -> Bool {
    exclude.contains { exclusion in
      switch exclusion {
      case .name(let glob): glob.matches(name)
      case .path(let path): path.matches(folder + "/" + String(decoding: name, as: UTF8.self))
      }
    }
  }

  /// The name of the program that writes a file.
  func appName(of path: String) -> String {
    filled(app, path) ?? Self.stem(of: matchingPath(of: path) ?? path)
  }

  /// The user that the configuration assigns to a file.
  func userName(of path: String) -> String? { filled(user, path) }

  /// The category that the configuration assigns to a file.
  func categoryName(of path: String) -> String? { filled(category, path) }

  /// A file's name up to its first dot: `app` of `/var/log/app.log.1`.
  static func stem(of path: String) -> String {
    let name = AttachedFile.name(of: path)
    let dot = UInt8(ascii: ".")
    let stem = name.utf8.drop { $0 == dot }.prefix { $0 != dot }
    return String(stem.isEmpty ? name : Substring(stem))
  }

  /// Whether a path is a rotated name of another: `app.log.1`, `app.log-20260122`,
  /// `app-20260122.log`, `app.log.old`, compressed or not.
  static func isRotation(_ path: String, of original: String) -> Bool {
    AttachedFile.folder(of: path) == AttachedFile.folder(of: original)
      && isRotatedName(path, of: original)
  }

  /// The same for files in any folders, as logrotate's `olddir` separates them.
  static func isRotatedName(_ path: String, of original: String) -> Bool {
    var name = AttachedFile.name(of: path)
    let base = AttachedFile.name(of: original)
    if CompressedFile.form(of: path) != nil, let dot = name.lastIndex(of: ".") {
      name = name[..<dot]
    }
    // logrotate's `extension` comes after the number, wherever a dot may begin it.
    for dot in [base.endIndex, base.firstIndex(of: "."), base.lastIndex(of: ".")].compactMap(\.self)
    where dot > base.startIndex && name.hasPrefix(base[..<dot]) {
      let (middle, end) = (name.dropFirst(base[..<dot].count), base[dot...])
      guard middle.hasSuffix(end), middle.first.map({ ".-_".contains($0) }) == true else {
        continue
      }
      let number = middle.dropFirst().dropLast(end.count)
      if number == former || !number.isEmpty && number.allSatisfy(isRotationMark) { return true }
    }
    return false
  }

  /// The paths that a file may be a rotation of, compressed or not.
  ///
  /// - Parameter folder: where they are; by default where the file is.
  static func originals(of path: String, in folder: String? = nil) -> [String] {
    let folder = folder ?? AttachedFile.folder(of: path)
    return originalNames(of: AttachedFile.name(of: path))
      .map { AttachedFile.path(of: $0, in: folder) }
  }

  /// The paths in the folder above that a file may be a rotation of, as with logrotate's `olddir`.
  static func originalsAbove(_ path: String) -> [String] {
    originals(of: path, in: AttachedFile.folder(of: AttachedFile.folder(of: path)))
  }

  /// At how many of the last separators of a name rotation may have inserted a number or a date: who
  /// writes logs chooses their names, and with them the cost.
  private static let mostSeparators = 12

  /// Whether a name has anything that rotation may have inserted.
  static func mayBeRotated(_ name: UnsafeBufferPointer<UInt8>) -> Bool {
    name.contains { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
      || name.indices.contains { name[$0...].starts(with: former.utf8) }
  }

  /// The names that a file's name may be a rotation of.
  static func originalNames(of name: Substring) -> [String] {
    var plain = name
    if CompressedFile.form(of: String(name)) != nil, let dot = name.lastIndex(of: ".") {
      plain = name[..<dot]
    }
    let characters = Array(plain)
    let firstDot = characters.firstIndex(of: ".") ?? characters.count
    let lastDot = characters.lastIndex(of: ".")
    var names: Set<String> = []
    let starts = characters.indices.dropFirst().filter { ".-_".contains(characters[$0]) }
    /// Adds what a name was before rotation inserted the part from one index to another: that ends with
    /// the name, or before its ending, which begins at its first or last dot.
    func add(from start: Int, to end: Int) {
      guard end == characters.count || end == lastDot || characters[end] == "." && start <= firstDot
      else { return }
      names.insert(String(characters[..<start] + characters[end...]))
    }
    for start in starts.suffix(mostSeparators) {
      if characters[(start + 1)...].starts(with: former) {
        add(from: start, to: start + 1 + former.count)
      }
      var end = start + 1
      while end < characters.count, isRotationMark(characters[end]) {
        end += 1
        if end > start + 1 { add(from: start, to: end) }
      }
    }
    return names.filter { isRotatedName(String(name), of: $0) }.sorted()
  }

  /// The path that matches: the file's own, or that of the log it was rotated from, in its folder or
  /// the one above; nil if none does.
  func matchingPath(of path: String) -> String? {
    ([path] + Self.originals(of: path) + Self.originalsAbove(path)).first(where: self.path.matches)
  }

  /// Whether the search of its folder reports a file: it matches, or is the rotation of a log there that
  /// does.
  func finds(_ path: String) -> Bool {
    self.path.matches(path) || Self.originals(of: path).contains(where: self.path.matches)
  }

  /// Whether a file may be a rotation of a log that matches in the folder above.
  func isRotatedFromAbove(_ path: String) -> Bool {
    Self.originalsAbove(path).contains(where: self.path.matches)
  }

  /// Whether the search enters a folder, unless that is left out.
  func leads(to folder: String) -> Bool {
    folder == path.root || isAbove(folder) && path.enters(folder)
  }

  /// Whether a folder lies below the one where the search starts.
  func isAbove(_ folder: String) -> Bool {
    folder.hasPrefix(path.root == "/" ? "/" : path.root + "/")
  }

  /// What many scripts append in place of a number.
  private static let former = "old"

  private static func isRotationMark(_ character: Character) -> Bool {
    character.isNumber || "-_.T:".contains(character)
  }

  private func filled(_ template: String?, _ path: String) -> String? {
    guard let template else { return nil }
    guard template.contains("$"), let path = matchingPath(of: path),
      let captures = self.path.captures(of: path)
    else {
      return template
    }
    var out = template
    for (index, text) in captures.enumerated().prefix(9) {
      out = out.replacing("$\(index + 1)", with: text)
    }
    return out
  }
}

package import Platform

/// Files of other programs that are attached: an entry of the configuration's `sources:`.
package struct LogSource: Sendable, Equatable {
  /// Which files.
  package var path: SourcePattern
  /// Which of them not.
  package var exclude: [Exclusion]
  /// The program that writes them; `$1` is what the first `*` of the path stands for, and so on.
  package var app: String?
  /// The user that it runs as, in the same form; the file's owner by default.
  package var user: String?
  /// The category of records that name none, in the same form.
  package var category: String?
  /// Time without growth after which a session ends.
  package var idleEnd: Duration
  /// A day.
  package static let defaultIdleEnd = Duration.days(1)
  /// Whether links are followed that lead out of the folder before the first `*`.
  package var followsLinks: Bool
  /// How large a compressed file may become; nil for what its own size lets expect.
  package var maxSize: ByteCount?

  /// Attaches files.
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
    /// By a name with wildcards, wherever it is.
    case name(Glob)
    /// By their whole path.
    case path(SourcePattern)

    /// Reads a name, or a path where it begins with `/`; nil where that is no path.
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

  /// Whether a file or folder is left out.
  func excludes(_ name: UnsafeBufferPointer<UInt8>, in folder: String) -> Bool {
    exclude.contains { exclusion in
      switch exclusion {
      case .name(let glob): glob.matches(name)
      case .path(let path): path.matches(folder + "/" + String(decoding: name, as: UTF8.self))
      }
    }
  }

  /// The program that writes a file.
  func appName(of path: String) -> String {
    filled(app, path) ?? Self.stem(of: path)
  }

  /// The user that the configuration names for a file.
  func userName(of path: String) -> String? { filled(user, path) }

  /// The category that the configuration names for a file.
  func categoryName(of path: String) -> String? { filled(category, path) }

  /// A file's name up to its first dot: `app` of `/var/log/app.log.1`.
  static func stem(of path: String) -> String {
    let name = path.split(separator: "/").last ?? "log"
    return name.split(separator: ".").first.map(String.init) ?? String(name)
  }

  /// Whether a path is what rotation makes of another: `app.log.1`, `app.log-20260122`,
  /// `app-20260122.log`, compressed or not.
  static func isRotation(_ path: String, of original: String) -> Bool {
    guard AttachedFile.folder(of: path) == AttachedFile.folder(of: original),
      var name = path.split(separator: "/").last?[...],
      let base = original.split(separator: "/").last
    else { return false }
    if CompressedFile.form(of: path) != nil, let dot = name.lastIndex(of: ".") {
      name = name[..<dot]
    }
    let stem = base.split(separator: ".").first ?? base
    let ending = base.dropFirst(stem.count)
    for (start, end) in [(base, ""), (stem, ending)] where name.hasPrefix(start) {
      let middle = name.dropFirst(start.count)
      guard middle.hasSuffix(end), middle.first.map({ ".-_".contains($0) }) == true else {
        continue
      }
      let number = middle.dropFirst().dropLast(end.count)
      if !number.isEmpty, number.allSatisfy({ $0.isNumber || "-_.T:".contains($0) }) { return true }
    }
    return false
  }

  private func filled(_ template: String?, _ path: String) -> String? {
    guard let template else { return nil }
    guard template.contains("$"), let captures = self.path.captures(of: path) else {
      return template
    }
    var out = template
    for (index, text) in captures.enumerated().prefix(9) {
      out = out.replacing("$\(index + 1)", with: text)
    }
    return out
  }
}

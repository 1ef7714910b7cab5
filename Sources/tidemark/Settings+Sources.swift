import LogRecords
import Platform
import Sync
import Yams

extension Settings {
  /// `sources:`, a list of files to attach.
  static func sources(_ node: Node) throws -> [LogSource] {
    if node.scalar?.string.isEmpty == true { return [] }
    guard case .sequence(let entries) = node else {
      throw Problem(node, "'sources' takes a list: '- path: /var/log/app/**'")
    }
    return try entries.map { entry in
      guard case .mapping(let mapping) = entry else {
        throw Problem(entry, "an entry of 'sources' takes 'key: value' lines, 'path' first")
      }
      var source: LogSource?
      for (key, value) in mapping where key.string == "path" {
        guard let text = value.scalar?.string, let path = SourcePattern(text) else {
          throw Problem(value, "'path' takes files by an absolute path: /var/log/app/**")
        }
        source = LogSource(path: path)
      }
      guard var source else {
        // A misspelt key may be the missing one.
        for (key, _) in mapping where !sourceKeys.contains(key.string ?? "?") {
          throw unknown(key, key.string ?? "?", of: sourceKeys)
        }
        throw Problem(entry, "an entry of 'sources' lacks its 'path'")
      }
      for (key, value) in mapping { try set(key, value, of: &source) }
      return source
    }
  }

  private static let sourceKeys = [
    "path", "exclude", "app", "user", "category", "idle-end", "follow-links", "max-size",
  ]

  private static func set(_ key: Node, _ value: Node, of source: inout LogSource) throws {
    let name = key.string ?? "?"
    let text = value.scalar?.string
    switch (name, text) {
    case ("path", _): return
    case ("exclude", _):
      let entries = text == nil ? value.array() : [value]
      source.exclude = try entries.map { entry in
        guard let text = entry.scalar?.string, let exclusion = LogSource.Exclusion(text) else {
          throw Problem(
            entry, "'exclude' takes names or absolute paths: [debug*, /var/log/app/x/**]")
        }
        return exclusion
      }
    case ("app", let text?): source.app = text
    case ("user", let text?): source.user = text
    case ("category", let text?): source.category = text
    case ("idle-end", let text?):
      guard let idleEnd = Age.parse(text), idleEnd > .zero else {
        throw Problem(
          value,
          "invalid value '\(String(printable: text.utf8))' for 'idle-end'; use a time such as \(Age.forms)"
        )
      }
      source.idleEnd = idleEnd
    case ("follow-links", let text?):
      guard let follows = flag(text) else {
        throw Problem(
          value,
          "invalid value '\(String(printable: text.utf8))' for 'follow-links'; use true or false")
      }
      source.followsLinks = follows
    case ("max-size", let text?):
      guard let size = bytes(text), size > 0 else {
        throw Problem(
          value,
          "invalid value '\(String(printable: text.utf8))' for 'max-size'; use a size such as "
            + ByteCount.sizeForms)
      }
      source.maxSize = size
    default:
      guard sourceKeys.contains(name) else { throw unknown(key, name, of: sourceKeys) }
      throw Problem(value, "'\(name)' takes one value")
    }
  }
}

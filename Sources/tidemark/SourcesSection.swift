import LogRecords
import Platform
import Sync
import Yams

/// Reads `sources:`, a list of files to attach.
enum SourcesSection {
  static func read(_ node: Node) throws -> [LogSource] {
    if node.scalar?.string.isEmpty == true { return [] }
    guard case .sequence(let entries) = node else {
      throw ConfigurationError(node, "'sources' takes a list: '- path: /var/log/app/**'")
    }
    return try entries.map { entry in
      guard case .mapping(let mapping) = entry else {
        throw ConfigurationError(
          entry, "an entry of 'sources' takes 'key: value' lines, 'path' first")
      }
      var source: LogSource?
      for (key, value) in mapping where key.string == "path" {
        guard let text = value.scalar?.string, let path = SourcePattern(text) else {
          throw ConfigurationError(value, "'path' takes files by an absolute path: /var/log/app/**")
        }
        source = LogSource(path: path)
      }
      guard var source else {
        // A misspelt key may be the missing one.
        for (key, _) in mapping where !keys.contains(key.string ?? "?") {
          throw ConfigurationError.unknown(key, key.string ?? "?", of: keys)
        }
        throw ConfigurationError(entry, "an entry of 'sources' lacks its 'path'")
      }
      for (key, value) in mapping { try set(key, value, of: &source) }
      return source
    }
  }

  private static let keys = [
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
          throw ConfigurationError(
            entry, "'exclude' takes names or absolute paths: [debug*, /var/log/app/x/**]")
        }
        return exclusion
      }
    case ("app", let text?): source.app = text
    case ("user", let text?): source.user = text
    case ("category", let text?): source.category = text
    case ("idle-end", let text?):
      guard let idleEnd = Age.parse(text), idleEnd > .zero else {
        throw ConfigurationError(
          value,
          "invalid value '\(String(printable: text.utf8))' for 'idle-end'; use a time such as \(Age.forms)"
        )
      }
      source.idleEnd = idleEnd
    case ("follow-links", let text?):
      guard let follows = Settings.flag(text) else {
        throw ConfigurationError(
          value,
          "invalid value '\(String(printable: text.utf8))' for 'follow-links'; use true or false")
      }
      source.followsLinks = follows
    case ("max-size", let text?):
      guard let size = Settings.bytes(text), size > 0 else {
        throw ConfigurationError(
          value,
          "invalid value '\(String(printable: text.utf8))' for 'max-size'; use a size such as "
            + ByteCount.sizeForms)
      }
      source.maxSize = size
    default:
      guard keys.contains(name) else { throw ConfigurationError.unknown(key, name, of: keys) }
      throw ConfigurationError(value, "'\(name)' takes one value")
    }
  }
}

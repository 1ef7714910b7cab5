import LogRecords
import Platform
import Yams

/// A mapping of a configuration file, read key by key with errors that name the line.
struct Section {
  let node: Node
  private let name: String
  private let mapping: Node.Mapping

  init(_ node: Node, _ name: String) throws {
    guard case .mapping(let mapping) = node else {
      throw ConfigurationError(node, "'\(name)' takes 'key: value' lines")
    }
    (self.node, self.name, self.mapping) = (node, name, mapping)
  }

  /// Rejects unknown keys.
  func check(_ known: [String]) throws {
    for (key, _) in mapping where !known.contains(key.string ?? "?") {
      throw ConfigurationError.unknown(key, key.string ?? "?", of: known)
    }
  }

  private func value(_ key: String) -> Node? {
    mapping.first { $0.key.string == key }?.value
  }

  /// One value; nil if there is none.
  func text(_ key: String) throws -> (text: String, node: Node)? {
    guard let value = value(key) else { return nil }
    guard let text = value.scalar?.string else {
      throw ConfigurationError(value, "'\(key)' takes one value")
    }
    return text.isEmpty ? nil : (text, value)
  }

  /// One value or several.
  func texts(_ key: String) throws -> [String]? {
    guard let value = value(key) else { return nil }
    if let text = value.scalar?.string { return text.isEmpty ? [] : [text] }
    guard case .sequence(let entries) = value else {
      throw ConfigurationError(value, "'\(key)' takes a value or a list: [one, other]")
    }
    return try entries.map { entry in
      guard let text = entry.scalar?.string else {
        throw ConfigurationError(entry, "'\(key)' takes a value or a list: [one, other]")
      }
      return text
    }
  }

  /// A value, parsed by a function.
  func value<Value>(_ key: String, _ read: (String) throws -> Value?) throws -> Value? {
    guard let (text, node) = try text(key) else { return nil }
    do {
      if let value = try read(text) { return value }
    } catch let error as PatternError {
      throw ConfigurationError(node, String(printable: "\(error)".utf8))
    }
    throw ConfigurationError(node, "invalid value '\(String(printable: text.utf8))' for '\(key)'")
  }

  /// A mapping below a key; nil if there is none.
  func section(_ key: String) throws -> Section? {
    guard let value = value(key), value.scalar?.string.isEmpty != true else { return nil }
    return try Section(value, key)
  }

  /// Mappings below the keys of a mapping.
  func sections(_ key: String) throws -> [(name: String, section: Section)] {
    guard let section = try section(key) else { return [] }
    return try section.mapping.map { key, value in
      let name = key.string ?? "?"
      return (name, try Section(value, name))
    }
  }

  /// A list of mappings.
  func list(_ key: String) throws -> [Section] {
    guard let value = value(key), value.scalar?.string.isEmpty != true else { return [] }
    guard case .sequence(let entries) = value else {
      throw ConfigurationError(value, "'\(key)' takes a list: '- name: …'")
    }
    return try entries.map { try Section($0, "an entry of \(key)") }
  }
}

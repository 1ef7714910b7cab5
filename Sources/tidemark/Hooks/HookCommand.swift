import Fleet
import Yams

/// Reads the keys of the configuration that name a program to run.
enum HookCommand {
  static var keys: [String: WritableKeyPath<HookSettings, [String]?>] {
    ["on-crash": \.onCrash, "on-stale": \.onStale]
  }

  /// A program and its arguments: one word, or a list.
  static func read(_ node: Node, _ key: String) throws -> [String]? {
    if let text = node.scalar?.string, text.isEmpty { return nil }
    let words = node.scalar.map { [$0.string] } ?? node.array().map { $0.scalar?.string ?? "" }
    guard let program = words.first, program.hasPrefix("/"), !words.contains("") else {
      throw ConfigurationError(
        node,
        "'\(key)' takes a program by its absolute path, and arguments: [/usr/local/bin/notify, ops]"
      )
    }
    return words
  }
}

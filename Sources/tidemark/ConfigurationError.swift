import LogRecords
import Yams

/// A wrong key or value of a configuration file, and its line.
struct ConfigurationError: Error {
  let line: Int
  let text: String

  init(_ node: Node, _ text: String) {
    line = node.mark?.line ?? 1
    self.text = text
  }

  /// Describes a key that does not exist, and names the one that may be meant.
  static func unknown(_ key: Node, _ name: String, of known: [String]) -> ConfigurationError {
    let hint = Suggestion.hint(for: name, among: known)
    return ConfigurationError(key, "unknown key '\(String(printable: name.utf8))'\(hint)")
  }

  /// Reads a configuration file, and reports the line of an error.
  ///
  /// - Throws: ``Failure``, errors of `body`.
  static func locating(in path: String, _ body: () throws -> Void) throws {
    do {
      try body()
    } catch let error as YamlError {
      throw Failure(.configuration, "\(path)\(fault(error))")
    } catch let error as ConfigurationError {
      throw Failure(.configuration, "\(path):\(error.line): \(error.text)")
    }
  }

  /// The line and the error, without the surrounding text, which may be a password.
  private static func fault(_ error: YamlError) -> String {
    switch error {
    case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
      .composer(_, let problem, let mark, _):
      return ":\(mark.line): \(problem)"
    case .duplicatedKeysInMapping(let keys, let context):
      let names = keys.sorted().map { "'\(String(printable: $0.utf8))'" }.joined(separator: ", ")
      return ":\(context.mark.line): duplicate key \(names): keep one"
    case .reader(let problem, _, _, _): return ": \(problem)"
    default: return ": not readable as YAML"
    }
  }
}

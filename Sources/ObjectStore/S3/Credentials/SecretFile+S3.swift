import Foundation

extension SecretFile {
  /// The first line of a file with a part of a key, without surrounding white space.
  ///
  /// Throws `configuration` if there is none; `name` is the variable or key that names the file.
  static func read(_ path: String, named name: String) throws -> String {
    let line = firstLine(of: path)?.trimmingCharacters(in: .whitespaces)
    guard let line, !line.isEmpty else {
      throw StoreError.credentials(
        "the file \(path) cannot be read, or is empty", advice: "Correct \(name).")
    }
    return line
  }
}

extension [String: String] {
  /// The value of a variable, or the first line of the file named by its `_FILE` variable.
  func secret(_ name: String) throws -> String? {
    if let value = text(name) { return value }
    return try text(name + "_FILE").map { try SecretFile.read($0, named: name + "_FILE") }
  }
}

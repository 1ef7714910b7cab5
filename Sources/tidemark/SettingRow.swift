import Foundation
import Platform
import SessionLog

/// A key of the configuration with one value: all that the program knows about it.
///
/// Parsing, hints, `config show`, the template that `init` writes, and with it the manual page,
/// follow from its row in ``Settings/keys``; the default is that of ``Settings/init()``.
struct SettingRow: Sendable {
  /// What a file is for that a value names.
  enum File: Sendable {
    /// A secret, which others must not read.
    case secret
    /// Something else of the login.
    case login
  }

  /// The key; in a section `section.key`.
  let name: String
  /// Applies a value; returns false if it is invalid.
  let takeOver: Settings.Apply
  /// The present value, as it would be written; nil for none.
  let value: @Sendable (Settings) -> String?
  /// The valid forms, for an error; empty if the key alone says it.
  let hint: String
  /// Environment variables that override the key; the first one set counts.
  var variables: [String] = []
  /// The file that it names, if it does.
  var file: File?
  /// The value shown in the template where there is no default.
  var example = ""
  /// The template's comment; empty if that of the key before, or of the section, covers it.
  var doc = ""

  /// The section; nil for a key outside one.
  var section: String? {
    name.contains(".") ? name.split(separator: ".").first.map(String.init) : nil
  }
  /// The value if nothing is configured; nil for none.
  var standard: String? { value(Settings()) }

  /// Variables that contain the secret itself.
  var secretVariables: [String] {
    file == .secret ? variables.filter { !$0.hasSuffix("_FILE") } : []
  }
  /// Variables that name a file with the secret.
  var secretFileVariables: [String] {
    file == .secret ? variables.filter { $0.hasSuffix("_FILE") } : []
  }

  /// The lines of the template.
  var template: [String] {
    let indent = section == nil ? "" : "  "
    let key = section.map { String(name.dropFirst($0.count + 1)) } ?? name
    let shown = standard ?? example
    return doc.split(separator: "\n").map { "\(indent)# \($0)" }
      + ["\(indent)#\(key):\(shown.isEmpty ? "" : " ")\(shown)"]
  }
}

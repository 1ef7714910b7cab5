import Fleet
import Foundation
import ObjectStore

/// A setting's effective value, and its origin.
struct EffectiveSetting: Equatable {
  /// The origin of a value.
  enum Origin: Equatable {
    /// A line of the configuration.
    case file(path: String, line: Int)
    /// A variable of the environment, which overrides the configuration.
    case environment(String)
    /// The default.
    case standard

    var word: String {
      switch self {
      case .file: "file"
      case .environment: "environment"
      case .standard: "default"
      }
    }

    var place: String? {
      switch self {
      case .file(let path, let line): "\(path):\(line)"
      case .environment(let name): name
      case .standard: nil
      }
    }

    /// For a person.
    var text: String { place ?? "default" }
  }

  let key: String
  /// The value; nil if there is none.
  let value: String?
  let origin: Origin

  /// The defaults, as shown in the configuration that `init` writes.
  static let defaults = Dictionary(
    uniqueKeysWithValues: Settings.keys.compactMap { row in row.standard.map { (row.name, $0) } })

  /// All keys with one value, in the order of the configuration.
  static func all(
    _ settings: Settings, _ path: String, _ environment: [String: String]
  ) -> [EffectiveSetting] {
    Settings.keys.map { row in
      let key = row.name
      for name in row.variables {
        guard let value = environment[name], !value.isEmpty else { continue }
        return EffectiveSetting(
          key: key, value: row.secretVariables.contains(name) ? "***" : shown(value, of: key),
          origin: .environment(name))
      }
      if let written = settings.written[key] {
        return EffectiveSetting(
          key: key, value: shown(written.text, of: key),
          origin: .file(path: path, line: written.line))
      }
      return EffectiveSetting(key: key, value: defaults[key], origin: .standard)
    }
  }

  private static func shown(_ text: String, of key: String) -> String {
    switch key {
    case "proxy": withoutLogin(text)
    case "store", "s3.endpoint": StoreURL.withoutSecrets(text)
    // Anyone with the whole URL can send the heartbeat.
    case "heartbeat": Webhook(text)?.description ?? "***"
    default: text
    }
  }

  /// The URL of a proxy without a login in it.
  private static func withoutLogin(_ url: String) -> String {
    guard let at = url.lastIndex(of: "@") else { return url }
    let start = url.range(of: "://")?.upperBound ?? url.startIndex
    return url[..<start] + "***" + url[at...]
  }
}

import ObjectStore
import Fleet
import Foundation

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

  /// Variables that override a key; the first one set counts.
  private static let variables: [String: [String]] = [
    "store": ["TIDEMARK_STORE"], "allow-plaintext": ["TIDEMARK_ALLOW_PLAINTEXT"],
    "webdav.user": ["TIDEMARK_WEBDAV_USER"],
    "webdav.password-file": ["TIDEMARK_WEBDAV_PASSWORD", "TIDEMARK_WEBDAV_PASSWORD_FILE"],
    "webdav.token-file": ["TIDEMARK_WEBDAV_TOKEN", "TIDEMARK_WEBDAV_TOKEN_FILE"],
    "s3.endpoint": ["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"],
    "s3.region": ["AWS_REGION", "AWS_DEFAULT_REGION"], "s3.profile": ["AWS_PROFILE"],
    "s3.access-key-id": ["AWS_ACCESS_KEY_ID", "AWS_ACCESS_KEY_ID_FILE"],
    "s3.secret-access-key-file": ["AWS_SECRET_ACCESS_KEY", "AWS_SECRET_ACCESS_KEY_FILE"],
  ]

  /// Variables that contain a secret.
  private static let secrets: Set<String> = [
    "TIDEMARK_WEBDAV_PASSWORD", "TIDEMARK_WEBDAV_TOKEN", "AWS_SECRET_ACCESS_KEY",
  ]

  /// The defaults, as shown in the configuration that `init` writes.
  static let defaults = [
    "transfers": "12", "stale-after": "1h", "fsync": "1s", "rotate-at": "10000000",
    "stderr-level": "INFO", "upload-every": "60s", "minimum-tls": "1.2", "allow-plaintext": "false",
    "connect-timeout": "15s", "stall-timeout": "30s", "retention.local": "7d",
    "retention.remote": "30d", "retention.trash": "7d",
  ]

  /// All keys with one value, in the order of the configuration.
  static func all(
    _ settings: Settings, _ path: String, _ environment: [String: String]
  ) -> [EffectiveSetting] {
    Settings.keys.map { key, _ in
      for name in variables[key] ?? [] {
        guard let value = environment[name], !value.isEmpty else { continue }
        return EffectiveSetting(
          key: key, value: secrets.contains(name) ? "***" : shown(value, of: key),
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

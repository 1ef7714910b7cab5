import Foundation
import LogRecords
import ObjectStore
import Platform
import Redaction
import Replica
import SessionLog
import Sync
import Yams

/// `tidemark.yaml`: every key has a default, and an unknown key is an error.
struct Settings {
  var store: String?
  /// Whether the configuration says `store: none`.
  var hasNoStore = false
  /// The configured consent; nil if the configuration does not state one.
  var consent: Consent? {
    didSet { recording.consent = consent == .metadata ? .metadata : nil }
  }
  var staleAfter = Duration.hours(1)
  var retention = Retention()
  /// How sessions are recorded.
  var recording = RecordingOptions()
  /// Time between uploads of a session being recorded; nil for none before its end.
  var uploadEvery: Duration? = .seconds(60)
  var sources: [LogSource] = []
  /// The redaction rules.
  var redaction = RedactionRules()
  /// Commands and URLs for good and bad events.
  var hooks = HookSettings()
  /// The keys that a device's seals must be signed with, by device.
  var trust: [String: KnownKeys.Key] = [:]
  /// The settings of the store.
  ///
  /// Files with secrets are read only when a store is opened: a user whose sessions root uploads
  /// need not be able to read them.
  var storeSettings = StoreSettings(machine: .current)
  /// Maximum number of requests in one upload.
  var maximumRequests: Int?
  /// Whether no other user may change the file.
  private(set) var isOursAlone = false
  /// Whether the store's login is in other files.
  var namesSecretFiles: Bool { Self.keys.contains { $0.file != nil && $0.value(self) != nil } }
  /// Values in the file of the keys with one value, by name.
  private(set) var written: [String: Written] = [:]

  /// A value as written in the file.
  struct Written {
    let text: String
    let line: Int
  }

  /// Opens a store as configured.
  func store(
    at url: StoreURL, transfers: Int? = nil, environment: [String: String],
    policy: RetryPolicy = RetryPolicy()
  ) throws -> any ObjectStore {
    var settings = storeSettings
    settings.transfers = transfers ?? settings.transfers
    return try openStore(url, settings: settings, environment: environment, policy: policy)
  }

  /// Concurrent requests, unless the command line says otherwise.
  var transfers: Int? { storeSettings.transfers }

  /// The defaults.
  init() {}

  /// Reads a configuration file; a missing one gives the defaults.
  ///
  /// - Parameter report: receives each wrong key or value, and the rest is read; nil to throw the
  ///   first.
  init(path: String, reporting report: ((Failure) -> Void)? = nil) throws {
    guard let file = try ConfigurationFile(path) else { return }
    isOursAlone = file.isOursAlone
    try ConfigurationError.locating(in: path) {
      // Read values as plain text, without guessing types.
      guard let root = try Yams.compose(yaml: file.text, .basic) else {
        return
      }
      guard case .mapping(let mapping) = root else {
        throw Failure(.configuration, "\(path): expected 'key: value' lines")
      }
      for (key, value) in mapping {
        guard let report, case .mapping(let section) = value,
          Self.sections.contains(key.string ?? "")
        else {
          try Self.read(path, reporting: report) { try parse(key, value) }
          continue
        }
        for (one, value) in section {
          try Self.read(path, reporting: report) {
            try apply(one, value, under: "\(key.string ?? "").")
          }
        }
      }
      try checkReaders(of: path)
    }
  }

  /// Applies one key of the file.
  private mutating func parse(_ key: Node, _ value: Node) throws {
    if key.string == "sources" {
      sources = try SourcesSection.read(value)
    } else if key.string == "trust" {
      trust = try TrustSection.read(value)
    } else if key.string == "redact" {
      redaction = try RedactSection.read(value)
    } else if let hook = HookCommand.keys[key.string ?? ""] {
      hooks[keyPath: hook] = try HookCommand.read(value, key.string ?? "")
    } else {
      try apply(key, value, under: "")
    }
  }

  private static func read(
    _ path: String, reporting report: ((Failure) -> Void)?, _ body: () throws -> Void
  ) throws {
    guard let report else { return try body() }
    do {
      try ConfigurationError.locating(in: path, body)
    } catch let error as Failure {
      report(error)
    }
  }

  private static let sections = ["retention", "webdav", "s3"]

  private mutating func apply(_ key: Node, _ value: Node, under parent: String) throws {
    let name = parent + (key.string ?? "?")
    if Self.sections.contains(name) {
      if value.scalar?.string.isEmpty == true { return }
      guard case .mapping(let mapping) = value else {
        throw ConfigurationError(value, "'\(name)' takes indented 'key: value' lines")
      }
      for (key, value) in mapping { try apply(key, value, under: name + ".") }
      return
    }
    guard let row = Self.keys.first(where: { $0.name == name }) else {
      throw ConfigurationError.unknown(
        key, name,
        of: Self.keys.map(\.name) + Self.sections + HookCommand.keys.keys.sorted()
          + ["sources", "redact", "trust"])
    }
    guard let text = value.scalar?.string else {
      throw ConfigurationError(value, "'\(name)' takes one value")
    }
    if text.isEmpty { return }
    written[name] = Written(text: text, line: value.mark?.line ?? 1)
    guard row.takeOver(&self, text) else {
      // The value may contain a password, or be a secret.
      guard !["proxy", "heartbeat"].contains(name) else {
        throw ConfigurationError(value, "invalid value for '\(name)'\(row.hint)")
      }
      throw ConfigurationError(
        value, "invalid value '\(String(printable: text.utf8))' for '\(name)'\(row.hint)"
      )
    }
  }
}

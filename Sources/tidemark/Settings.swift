import Foundation
import ObjectStore
import SessionLog
import Sync
import Yams

/// `tidemark.yaml`: every key has a default, and a key that is not known is an error.
struct Settings {
  enum Consent: String { case none, logs }

  var store: String?
  /// What the configuration says; nil when it says nothing.
  var consent: Consent?
  var staleAfter: Int64 = 3600
  var retention = Retention()
  var fsync = FsyncPolicy.interval(1000)
  /// Length in bytes from which on a session's live log is rotated; 0 for never.
  var rotateAt = SessionWriter.defaultRotation
  var sources: [LogSource] = []
  /// Without the secrets, which ``store(at:transfers:environment:)`` reads.
  private var storeSettings = StoreSettings()
  private var webdavPasswordFile: String?
  private var s3SecretFile: String?

  /// Opens a store as configured.
  ///
  /// Only here are the files with secrets read: a user whose sessions root sends need not be able to.
  func store(
    at url: StoreURL, transfers: Int?, environment: [String: String]
  ) throws -> any ObjectStore {
    var settings = storeSettings
    settings.transfers = transfers ?? settings.transfers
    settings.webdavPassword = try webdavPasswordFile.map(Self.secret)
    settings.s3.secretAccessKey = try s3SecretFile.map(Self.secret)
    return try openStore(url, settings: settings, environment: environment)
  }

  /// Requests under way at once, where the command line does not say.
  var transfers: Int { storeSettings.transfers }

  /// The defaults.
  init() {}

  /// Reads a configuration file; one that is not there gives the defaults.
  init(path: String) throws {
    guard let data = FileManager.default.contents(atPath: path) else {
      guard !FileManager.default.fileExists(atPath: path) else {
        throw Failure(.configuration, "cannot read \(path); check who owns it")
      }
      return
    }
    do {
      guard let root = try Yams.compose(yaml: String(decoding: data, as: UTF8.self)) else { return }
      guard case .mapping(let mapping) = root else {
        throw Failure(.configuration, "\(path): expected 'key: value' lines")
      }
      for (key, value) in mapping {
        if key.string == "sources" {
          sources = try Self.sources(value)
        } else {
          try apply(key, value, under: "")
        }
      }
    } catch let error as YamlError {
      throw Failure(.configuration, "\(path): \(error)")
    } catch let error as Problem {
      throw Failure(.configuration, "\(path):\(error.line): \(error.text)")
    }
  }

  /// What is wrong, and in which line.
  private struct Problem: Error {
    let line: Int
    let text: String

    init(_ node: Node, _ text: String) {
      line = node.mark?.line ?? 1
      self.text = text
    }
  }

  private static let sections = ["retention", "webdav", "s3"]
  private static let keys = [
    "store", "consent", "transfers", "stale-after", "fsync", "rotate-at", "ca-file", "proxy",
    "connect-timeout", "stall-timeout", "retention.local", "retention.remote",
    "retention.local-max", "retention.prune-after", "webdav.user", "webdav.password-file",
    "s3.endpoint", "s3.region",
    "s3.profile", "s3.path-style", "s3.access-key-id", "s3.secret-access-key-file",
  ]

  private mutating func apply(_ key: Node, _ value: Node, under parent: String) throws {
    let name = parent + (key.string ?? "?")
    if Self.sections.contains(name) {
      if value.scalar?.string.isEmpty == true { return }
      guard case .mapping(let mapping) = value else {
        throw Problem(value, "'\(name)' takes indented 'key: value' lines")
      }
      for (key, value) in mapping { try apply(key, value, under: name + ".") }
      return
    }
    guard Self.keys.contains(name) else {
      throw Self.unknown(key, name, of: Self.keys + Self.sections + ["sources"])
    }
    guard let text = value.scalar?.string else { throw Problem(value, "'\(name)' takes one value") }
    if text.isEmpty { return }
    guard try set(name, text) else {
      throw Problem(value, "'\(Console.harmless(text.utf8))' is no value for '\(name)'")
    }
  }

  private static func unknown(_ key: Node, _ name: String, of known: [String]) -> Problem {
    let near = known.min { distance(name, $0) < distance(name, $1) }
    let hint = near.map { distance(name, $0) <= 3 ? "; did you mean '\($0)'?" : "" } ?? ""
    return Problem(key, "unknown key '\(Console.harmless(name.utf8))'\(hint)")
  }

  /// `sources:`, a list of files to attach.
  private static func sources(_ node: Node) throws -> [LogSource] {
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
      guard var source else { throw Problem(entry, "an entry of 'sources' lacks its 'path'") }
      for (key, value) in mapping { try set(key, value, of: &source) }
      return source
    }
  }

  private static let sourceKeys = [
    "path", "exclude", "app", "user", "category", "idle-end", "follow-links",
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
      guard let seconds = Age.seconds(text), seconds > 0 else {
        throw Problem(value, "'\(Console.harmless(text.utf8))' is no value for 'idle-end'")
      }
      source.idleEnd = seconds
    case ("follow-links", let text?):
      guard let follows = Bool(text) else {
        throw Problem(value, "'\(Console.harmless(text.utf8))' is no value for 'follow-links'")
      }
      source.followsLinks = follows
    default:
      guard sourceKeys.contains(name) else { throw unknown(key, name, of: sourceKeys) }
      throw Problem(value, "'\(name)' takes one value")
    }
  }

  /// Whether the value was understood.
  private mutating func set(_ name: String, _ text: String) throws -> Bool {
    switch name {
    case "store": store = text
    case "consent":
      guard let value = Consent(rawValue: text) else { return false }
      consent = value
    case "transfers":
      guard let value = Int(text), (1...64).contains(value) else { return false }
      storeSettings.transfers = value
    case "stale-after":
      guard let value = Age.seconds(text) else { return false }
      staleAfter = value
    case "fsync": return setFsync(text)
    case "rotate-at":
      guard let value = Self.bytes(text) else { return false }
      rotateAt = value
    case "ca-file": storeSettings.caFile = text
    case "proxy": storeSettings.proxy = text
    case "connect-timeout", "stall-timeout", "retention.local", "retention.remote",
      "retention.local-max", "retention.prune-after":
      return setNumber(name, text)
    case "webdav.user": storeSettings.webdavUser = text
    case "webdav.password-file": webdavPasswordFile = text
    case "s3.endpoint": storeSettings.s3.endpoint = text
    case "s3.region": storeSettings.s3.region = text
    case "s3.profile": storeSettings.s3.profile = text
    case "s3.path-style":
      guard let value = Bool(text) else { return false }
      storeSettings.s3.pathStyle = value
    case "s3.access-key-id": storeSettings.s3.accessKeyID = text
    case "s3.secret-access-key-file": s3SecretFile = text
    default: return false
    }
    return true
  }

  private mutating func setFsync(_ text: String) -> Bool {
    switch text {
    case "always": fsync = .always
    case "never": fsync = .never
    default:
      guard let seconds = Age.seconds(text) else { return false }
      fsync = .interval(seconds * 1000)
    }
    return true
  }

  private mutating func setNumber(_ name: String, _ text: String) -> Bool {
    if name == "retention.local-max" {
      guard let bytes = Self.bytes(text) else { return false }
      retention.localMax = bytes
      return true
    }
    guard let seconds = Age.seconds(text), seconds > 0 else { return false }
    switch name {
    case "connect-timeout": storeSettings.connectTimeout = TimeInterval(seconds)
    case "stall-timeout": storeSettings.stallTimeout = TimeInterval(seconds)
    case "retention.local": retention.local = seconds
    case "retention.prune-after": retention.pruneAfter = seconds
    default: retention.remote = seconds
    }
    return true
  }

  /// `500M`, `2G` or plain bytes.
  private static func bytes(_ text: String) -> Int64? {
    let units: [Character: Int64] = ["K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40]
    let factor = text.last.flatMap { units[$0] }
    guard let count = Int64(factor == nil ? text[...] : text.dropLast()), count >= 0 else {
      return nil
    }
    let (bytes, overflow) = count.multipliedReportingOverflow(by: factor ?? 1)
    return overflow ? nil : bytes
  }

  private static func secret(_ path: String) throws -> String {
    guard let data = FileManager.default.contents(atPath: path) else {
      throw Failure(
        .configuration, "cannot read the secret in \(path), which the configuration names")
    }
    return String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
  }

  /// Levenshtein's distance, for hints.
  private static func distance(_ left: String, _ right: String) -> Int {
    var row = Array(0...right.count)
    for (i, a) in left.enumerated() {
      var diagonal = row[0]
      row[0] = i + 1
      for (j, b) in right.enumerated() {
        (diagonal, row[j + 1]) = (
          row[j + 1], a == b ? diagonal : 1 + min(diagonal, row[j], row[j + 1])
        )
      }
    }
    return row[right.count]
  }
}

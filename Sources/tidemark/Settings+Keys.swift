import Foundation
import HTTPTransport
import LogRecords
import ObjectStore
import Platform
import SessionLog
import Sync

extension Settings {
  /// Applies a value; returns false if it is invalid for its key.
  typealias Apply = @Sendable (inout Settings, String) -> Bool

  /// The keys with one value; those in a section as `section.key`.
  static let keys: [(name: String, takeOver: Apply)] = [
    ("store", store),
    ("consent", key(\.consent, Consent.init(rawValue:))),
    ("transfers", key(\.storeSettings.transfers) { count($0, in: 1...64) }),
    ("stale-after", key(\.staleAfter, Age.parse)),
    ("heartbeat", heartbeat),
    ("fsync", key(\.recording.fsync, fsync)),
    ("rotate-at", key(\.recording.rotateAt, bytes)),
    ("stderr-level", key(\.recording.standardErrorLevel, Level.init(name:))),
    ("upload-every", uploadEvery),
    ("ca-file", key(\.storeSettings.caFile) { $0 }),
    ("client-certificate", key(\.storeSettings.clientCertificateFile) { $0 }),
    ("client-key", key(\.storeSettings.clientKeyFile) { $0 }),
    ("pinned-key", key(\.storeSettings.pinnedKey) { TLS.isPinnedKey($0) ? $0 : nil }),
    ("minimum-tls", key(\.storeSettings.minimumTLS, TLS.Version.init(rawValue:))),
    ("allow-plaintext", key(\.storeSettings.allowsPlaintext, flag)),
    ("proxy", key(\.storeSettings.proxy, proxy)),
    ("limit-rate", key(\.storeSettings.limitRate, rate)),
    ("max-requests", key(\.maximumRequests, requests)),
    ("connect-timeout", key(\.storeSettings.connectTimeout, duration)),
    ("stall-timeout", key(\.storeSettings.stallTimeout, duration)),
    ("retention.local", key(\.retention.local, duration)),
    ("retention.remote", key(\.retention.remote, duration)),
    ("retention.local-max", key(\.retention.localMax, bytes)),
    ("retention.prune-after", key(\.retention.pruneAfter, duration)),
    ("retention.trash", key(\.retention.trash, Age.parse)),
    ("retention.warn-before", key(\.retention.warnBefore, duration)),
    ("webdav.user", key(\.storeSettings.webdavUser) { $0 }),
    ("webdav.password-file", key(\.storeSettings.webdavPasswordFile) { $0 }),
    ("webdav.token-file", key(\.storeSettings.webdavTokenFile) { $0 }),
    ("s3.endpoint", key(\.storeSettings.s3.endpoint) { $0 }),
    ("s3.region", key(\.storeSettings.s3.region) { $0 }),
    ("s3.profile", key(\.storeSettings.s3.profile) { $0 }),
    ("s3.path-style", key(\.storeSettings.s3.pathStyle, flag)),
    ("s3.access-key-id", key(\.storeSettings.s3.accessKeyID) { $0 }),
    ("s3.secret-access-key-file", key(\.storeSettings.s3.secretAccessKeyFile) { $0 }),
    ("s3.provider", key(\.storeSettings.s3.provider) { $0 }),
    ("s3.server-side-encryption", key(\.storeSettings.s3.serverSideEncryption) { $0 }),
    ("s3.kms-key-id", key(\.storeSettings.s3.kmsKeyID) { $0 }),
    ("s3.storage-class", key(\.storeSettings.s3.storageClass) { $0 }),
  ]

  /// A URL, or `none`.
  private static let store: Apply = { settings, text in
    settings.hasNoStore = text == "none"
    settings.store = settings.hasNoStore ? nil : text
    return true
  }

  /// A duration, or 0 for none.
  private static let uploadEvery: Apply = { settings, text in
    guard let interval = Age.parse(text) else { return false }
    settings.uploadEvery = interval > .zero ? interval : nil
    return true
  }

  private static func key<Value>(
    _ path: any WritableKeyPath<Settings, Value> & Sendable,
    _ read: @escaping @Sendable (String) -> Value?
  ) -> Apply {
    { settings, text in
      guard let value = read(text) else { return false }
      settings[keyPath: path] = value
      return true
    }
  }

  private static func key<Value>(
    _ path: any WritableKeyPath<Settings, Value?> & Sendable,
    _ read: @escaping @Sendable (String) -> Value?
  ) -> Apply {
    { settings, text in
      guard let value = read(text) else { return false }
      settings[keyPath: path] = value
      return true
    }
  }

  // MARK: Values

  /// `500 MB`, `2G` or plain bytes.
  static func bytes(_ text: String) -> ByteCount? { ByteCount(size: text) }

  /// Bytes per second: `500k`, `2MB`; less than 1000 would stall every request.
  static func rate(_ text: String) -> ByteCount? {
    bytes(text).flatMap { $0 >= 1000 ? $0 : nil }
  }

  /// A number of requests; fewer than the minimum for one session would never complete it.
  static func requests(_ text: String) -> Int? { count(text, in: 8...Int.max) }

  /// `true` or `false`, and their usual variants.
  static func flag(_ text: String) -> Bool? {
    switch text.lowercased() {
    case "true", "yes", "on", "1": true
    case "false", "no", "off", "0": false
    default: nil
    }
  }

  /// The URL of a proxy, or `host:port`; may contain its login.
  private static func proxy(_ text: String) -> String? {
    let rest = text.range(of: "://").map { text[$0.upperBound...] } ?? text[...]
    let host = rest.split(separator: "@").last ?? ""
    let isSound = text.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F }
    return isSound && !host.isEmpty ? text : nil
  }

  private static func count(_ text: String, in range: ClosedRange<Int>) -> Int? {
    Int(text).flatMap { range.contains($0) ? $0 : nil }
  }

  /// A duration of at least a second.
  private static func duration(_ text: String) -> Duration? {
    Age.parse(text).flatMap { $0 > .zero ? $0 : nil }
  }

  private static func fsync(_ text: String) -> FsyncPolicy? {
    switch text {
    case "always": .always
    case "never": .never
    default: Age.parse(text).map(FsyncPolicy.interval)
    }
  }
}

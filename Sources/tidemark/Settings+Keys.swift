import Fleet
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

  /// The keys with one value, in the order of the template.
  static let keys: [SettingRow] = general + connection + retention + webdav + s3

  private static let general = [
    SettingRow(
      name: "store", takeOver: store, value: { $0.hasNoStore ? "none" : $0.store }, hint: "",
      variables: ["TIDEMARK_STORE"]),
    row(
      "consent", \.consent,
      .init("; use none, metadata or logs", Consent.init(rawValue:)) { $0.rawValue }),
    SettingRow(
      name: "transfers",
      takeOver: key(\.storeSettings.transfers) { count($0, in: 1...64) },
      value: { String($0.storeSettings.transfers ?? StoreSettings.standardTransfers) }, hint: "",
      doc: "Requests under way at once, 1 to 64; without it 12, and 32 for small uploads."),
    row(
      "stale-after", \.staleAfter, .timeOrZero,
      doc: "'status' and cron complain when nothing could be sent for so long."),
    SettingRow(
      name: "heartbeat", takeOver: heartbeat, value: { _ in nil }, hint: "; use https://…"),
    row(
      "fsync", \.recording.fsync, .fsync,
      doc: "When logs are made durable against a power loss: always, never, or an interval."),
    row(
      "rotate-at", \.recording.rotateAt, .size,
      doc: """
        The size at which a session's log is rotated and its parts compressed: 500k, 10MB; 0 for never.
        """),
    row(
      "stderr-level", \.recording.standardErrorLevel, .init("", Level.init(name:)) { $0.name },
      doc: "The level of lines on standard error that do not state one: TRACE to FAULT."),
    SettingRow(
      name: "upload-every", takeOver: uploadEvery,
      value: { $0.uploadEvery.map(SettingForm.brief) ?? "0" },
      hint: SettingForm<Duration>.time.hint,
      doc: """
        How often 'tidemark run' and 'tidemark log' upload a session that grows; 0 for its end only.
        """),
  ]

  private static let connection = [
    row(
      "ca-file", \.storeSettings.caFile, .text,
      doc: "A PEM file with the certificate authorities to trust instead of the system's."),
    row(
      "client-certificate", \.storeSettings.clientCertificateFile, .text, file: .login,
      doc: """
        PEM files with the certificate to show to the server, and its key (without a password).
        """),
    row("client-key", \.storeSettings.clientKeyFile, .text, file: .login),
    row(
      "pinned-key", \.storeSettings.pinnedKey, .init("", { TLS.isPinnedKey($0) ? $0 : nil }) { $0 },
      doc: "The server's public key, as curl's --pinnedpubkey takes it: sha256//BASE64."),
    row(
      "minimum-tls", \.storeSettings.minimumTLS,
      .init("", TLS.Version.init(rawValue:)) { $0.rawValue },
      doc: "The oldest version of TLS that is accepted: 1.2 or 1.3."),
    row(
      "allow-plaintext", \.storeSettings.allowsPlaintext, .flag,
      variables: ["TIDEMARK_ALLOW_PLAINTEXT"],
      doc: """
        Whether http:// to another machine is accepted: logs and password are sent unencrypted.
        """),
    row(
      "proxy", \.storeSettings.proxy, .init("", proxy) { $0 },
      doc: "http://user:password@host:port; by default what the environment says."),
    row(
      "limit-rate", \.storeSettings.limitRate,
      .init(SettingForm<ByteCount>.size.hint, rate) { String($0.bytes) },
      doc: "Bytes a second of all requests together, both ways: 500k, 2MB; by default unlimited."),
    row(
      "max-requests", \.maximumRequests, .init("", requests) { String($0) },
      doc: """
        Maximum number of requests of one upload, at least 8; the next one continues. By default none.
        """),
    row("connect-timeout", \.storeSettings.connectTimeout, .time),
    row(
      "stall-timeout", \.storeSettings.stallTimeout, .time,
      doc: "A request without progress is given up after this."),
  ]

  private static let retention = [
    row("retention.local", \.retention.local, .time),
    row("retention.remote", \.retention.remote, .time),
    row("retention.local-max", \.retention.localMax, .size),
    row("retention.prune-after", \.retention.pruneAfter, .time),
    row("retention.trash", \.retention.trash, .timeOrZero),
    row("retention.warn-before", \.retention.warnBefore, .time),
  ]

  private static let webdav = [
    row("webdav.user", \.storeSettings.webdavUser, .text, variables: ["TIDEMARK_WEBDAV_USER"]),
    row(
      "webdav.password-file", \.storeSettings.webdavPasswordFile, .text,
      variables: ["TIDEMARK_WEBDAV_PASSWORD", "TIDEMARK_WEBDAV_PASSWORD_FILE"], file: .secret),
    row(
      "webdav.token-file", \.storeSettings.webdavTokenFile, .text,
      variables: ["TIDEMARK_WEBDAV_TOKEN", "TIDEMARK_WEBDAV_TOKEN_FILE"], file: .secret),
  ]

  private static let s3 = [
    row(
      "s3.endpoint", \.storeSettings.s3.endpoint, .text,
      variables: ["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"],
      example: "https://minio.example:9000"),
    row(
      "s3.region", \.storeSettings.s3.region, .text,
      variables: ["AWS_REGION", "AWS_DEFAULT_REGION"], example: "us-east-1"),
    row("s3.profile", \.storeSettings.s3.profile, .text, variables: ["AWS_PROFILE"]),
    row("s3.provider", \.storeSettings.s3.provider, .text),
    row("s3.path-style", \.storeSettings.s3.pathStyle, .flag, example: "true"),
    row(
      "s3.access-key-id", \.storeSettings.s3.accessKeyID, .text,
      variables: ["AWS_ACCESS_KEY_ID", "AWS_ACCESS_KEY_ID_FILE"]),
    row(
      "s3.secret-access-key-file", \.storeSettings.s3.secretAccessKeyFile, .text,
      variables: ["AWS_SECRET_ACCESS_KEY", "AWS_SECRET_ACCESS_KEY_FILE"], file: .secret),
    row(
      "s3.server-side-encryption", \.storeSettings.s3.serverSideEncryption, .text,
      doc: "Asked for with each object: AES256 or aws:kms, and a class that can be read at once."),
    row("s3.kms-key-id", \.storeSettings.s3.kmsKeyID, .text),
    row("s3.storage-class", \.storeSettings.s3.storageClass, .text),
  ]

  private static func row<Value>(
    _ name: String, _ path: any WritableKeyPath<Settings, Value> & Sendable,
    _ form: SettingForm<Value>, variables: [String] = [], file: SettingRow.File? = nil,
    example: String = "", doc: String = ""
  ) -> SettingRow {
    SettingRow(
      name: name, takeOver: key(path, form.read), value: { form.text($0[keyPath: path]) },
      hint: form.hint, variables: variables, file: file, example: example, doc: doc)
  }

  private static func row<Value>(
    _ name: String, _ path: any WritableKeyPath<Settings, Value?> & Sendable,
    _ form: SettingForm<Value>, variables: [String] = [], file: SettingRow.File? = nil,
    example: String = "", doc: String = ""
  ) -> SettingRow {
    SettingRow(
      name: name, takeOver: key(path, form.read),
      value: { $0[keyPath: path].map(form.text) }, hint: form.hint, variables: variables,
      file: file, example: example, doc: doc)
  }

  /// A URL, or `none`.
  private static let store: Apply = { settings, text in
    settings.hasNoStore = text == "none"
    settings.store = settings.hasNoStore ? nil : text
    return true
  }

  /// A URL to ask after each upload that went well.
  private static let heartbeat: Apply = { settings, text in
    settings.hooks.heartbeat = Webhook(text)
    return settings.hooks.heartbeat != nil
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
}

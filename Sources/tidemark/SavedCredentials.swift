import Foundation
import ObjectStore
import Platform

/// The login that `init` found in the environment, in files named by the configuration: cron does
/// not have that environment.
struct SavedCredentials {
  /// A key of the configuration with its value, `section.key`.
  struct Setting: Equatable {
    let section: String
    let key: String
    let value: String
  }

  /// Settings to add to the configuration.
  private(set) var settings: [Setting] = []
  /// Secrets, by the path of their file.
  private(set) var secrets: [String: String] = [:]
  /// Why a login in the environment is not saved; nil if it is.
  private(set) var refusal: String?

  /// Determines the settings and secrets to save for a store.
  ///
  /// - Parameters:
  ///   - store: the store's URL.
  ///   - environment: the environment that may contain the login.
  ///   - folder: the folder for files with secrets.
  init(for store: StoreURL, environment: [String: String], in folder: String) {
    func value(_ names: String...) -> String? {
      names.lazy.compactMap { environment[$0] }.first { !$0.isEmpty }
    }
    func setting(_ section: String, _ key: String, _ value: String?) {
      if let value { settings.append(Setting(section: section, key: key, value: value)) }
    }
    func secret(_ section: String, _ key: String, _ value: String) {
      let path = "\(folder)/\(section)-\(key.dropLast("-file".count))"
      settings.append(Setting(section: section, key: key, value: path))
      secrets[path] = value
    }
    switch store.kind {
    case .directory: break
    case .webdav:
      setting("webdav", "user", value("TIDEMARK_WEBDAV_USER"))
      if let token = value("TIDEMARK_WEBDAV_TOKEN") {
        secret("webdav", "token-file", token)
      } else if let file = value("TIDEMARK_WEBDAV_TOKEN_FILE") {
        setting("webdav", "token-file", file)
      } else if let password = value("TIDEMARK_WEBDAV_PASSWORD") {
        secret("webdav", "password-file", password)
      } else {
        setting("webdav", "password-file", value("TIDEMARK_WEBDAV_PASSWORD_FILE"))
      }
    case .s3:
      setting("s3", "endpoint", value("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"))
      setting("s3", "region", value("AWS_REGION", "AWS_DEFAULT_REGION"))
      setting("s3", "profile", value("AWS_PROFILE"))
      guard let id = value("AWS_ACCESS_KEY_ID"), let key = value("AWS_SECRET_ACCESS_KEY") else {
        break
      }
      guard value("AWS_SESSION_TOKEN", "AWS_SESSION_TOKEN_FILE") == nil else {
        refusal = "AWS_SESSION_TOKEN makes this login a temporary one, which is not saved"
        break
      }
      setting("s3", "access-key-id", id)
      secret("s3", "secret-access-key-file", key)
    }
  }

  /// Writes the secrets, readable by their owner only.
  ///
  /// - Throws: ``Platform/SystemError``.
  func save() throws {
    for (path, secret) in secrets { try AtomicFile.write(Array((secret + "\n").utf8), to: path) }
  }
}

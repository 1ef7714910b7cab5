import Foundation
import Platform

/// One profile of the configuration files shared by the AWS tools.
struct AWSProfile {
  let name: String
  /// The file that contains its key, or should, with `~` for the home directory.
  let keyFile: String
  private let values: [String: String]

  subscript(_ key: String) -> String? { values[key] }

  /// Reads the chosen profile from the credentials and the config file.
  ///
  /// Missing files count as empty. Throws `configuration` if a profile was named and is in neither
  /// file, or if another user decides what is in one: under `sudo`, `HOME` may still be that user's,
  /// and the files choose the server.
  static func load(environment: [String: String], settings: StoreSettings.S3) throws -> AWSProfile {
    let named = environment.text("AWS_PROFILE") ?? settings.profile
    let name = named ?? "default"
    let home = environment.text("HOME") ?? homeOfUser()
    let credentials = environment.text("AWS_SHARED_CREDENTIALS_FILE") ?? home + "/.aws/credentials"
    let config = environment.text("AWS_CONFIG_FILE") ?? home + "/.aws/config"
    let fromConfig = try section(of: config, [name == "default" ? name : "profile \(name)"])
    let fromCredentials = try section(of: credentials, [name])
    if named != nil, fromConfig == nil, fromCredentials == nil {
      throw StoreError(
        .configuration, operation: "open", target: "s3", response: "unknown profile \(name)",
        advice: "Correct AWS_PROFILE, or write the profile into \(credentials).")
    }
    let merged = (fromConfig ?? [:]).merging(fromCredentials ?? [:]) { $1 }
    let isInConfig =
      fromCredentials?["aws_access_key_id"] == nil && fromConfig?["aws_access_key_id"] != nil
    let file = isInConfig ? config : credentials
    let short = file.hasPrefix(home + "/") ? "~" + file.dropFirst(home.count) : file
    return AWSProfile(name: name, keyFile: short, values: merged)
  }

  /// The keys and values of the first section that exists.
  private static func section(of path: String, _ names: [String]) throws -> [String: String]? {
    guard let file = try? ConfiguredFile(path) else { return nil }
    if let stranger = try? file.stranger() {
      throw StoreError(
        .configuration, operation: "open", target: "s3",
        response:
          "\(path) is what \(Account(id: stranger.owner).name) decides, who owns \(stranger.path)",
        advice:
          "Set HOME (with sudo: 'sudo -H'), or AWS_CONFIG_FILE and AWS_SHARED_CREDENTIALS_FILE.")
    }
    guard let content = try? file.content(limit: 1 << 20) else {
      throw StoreError(
        .configuration, operation: "read", target: path,
        response: "unreadable, or larger than 1 MiB",
        advice: "Correct the file.")
    }
    var found: [String: String]?
    var isInside = false
    for line in String(decoding: content, as: UTF8.self).split(whereSeparator: \.isNewline) {
      let trimmed = line.trimmingCharacters(in: .whitespaces)
      if trimmed.hasPrefix("[") {
        let title = trimmed.dropFirst().prefix { $0 != "]" }
        isInside = names.contains(title.split(separator: " ").joined(separator: " "))
        if isInside { found = found ?? [:] }
        continue
      }
      // Indented lines are nested tables (s3 = …), which contain nothing of interest here.
      guard isInside, line.first?.isWhitespace == false, !"#;".contains(trimmed.prefix(1)),
        let equals = trimmed.firstIndex(of: "=")
      else { continue }
      let key = trimmed[..<equals].trimmingCharacters(in: .whitespaces).lowercased()
      let value = trimmed[trimmed.index(after: equals)...].trimmingCharacters(in: .whitespaces)
      if !value.isEmpty { found?[key] = value }
    }
    return found
  }

  /// The home directory from the user database, for programs started without `HOME`.
  private static func homeOfUser() -> String { Account.current.home ?? "" }
}

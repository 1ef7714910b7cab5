import Foundation
import Platform

/// The `.netrc` file of the user who runs this process.
enum NetrcFile {
  private static let maximumBytes = 1 << 20

  /// The login for a host: from the file that `NETRC` names, else from `.netrc` in `HOME`.
  ///
  /// - Throws: `configuration` if the file that `NETRC` names cannot be read, or a login is in
  ///   another user's file: under `sudo`, `HOME` may still be that user's.
  static func login(environment: [String: String], host: String, user: String?) throws -> (
    user: String, password: String
  )? {
    let named = environment.text("NETRC")
    guard let path = named ?? environment.text("HOME").map({ "\($0)/.netrc" }) else { return nil }
    guard let file = try? ConfiguredFile(path) else {
      guard named != nil else { return nil }
      throw WebDAVLogin.refused(
        "the file \(path) that NETRC names cannot be read", "Correct NETRC.")
    }
    guard let content = try? file.content(limit: maximumBytes) else { return nil }
    let text = String(decoding: content, as: UTF8.self)
    guard let login = Netrc.login(in: text, host: host, user: user) else { return nil }
    guard try file.stranger() == nil else {
      throw WebDAVLogin.refused(
        "\(path) belongs to another user", "Set NETRC, or a login of your own.")
    }
    return login
  }
}

import Foundation

/// Finds the login of a WebDAV store.
enum WebDAVLogin {
  /// User and password from the environment, then the settings; nil when neither names one.
  ///
  /// Throws `configuration` when there is half of a login, or the password file cannot be read.
  static func resolve(environment: [String: String], settings: StoreSettings) throws
    -> (user: String, password: String)?
  {
    let names = ("TIDEMARK_WEBDAV_USER", "TIDEMARK_WEBDAV_PASSWORD")
    let user = environment.text(names.0) ?? settings.webdavUser
    var password = environment.text(names.1)
    if password == nil, let path = environment.text("TIDEMARK_WEBDAV_PASSWORD_FILE") {
      password = try firstLine(of: path)
    }
    switch (user, password ?? settings.webdavPassword) {
    case (nil, nil): return nil
    case (let user?, let password?):
      guard !user.contains(":") else {
        throw refused("the user name holds a colon", "Basic authentication allows none.")
      }
      return (user, password)
    case (nil, _): throw refused("there is a password, but no user", "Set \(names.0) as well.")
    case (_, nil): throw refused("there is a user, but no password", "Set \(names.1) as well.")
    }
  }

  private static func firstLine(of path: String) throws -> String {
    guard let data = FileManager.default.contents(atPath: path), data.count <= 4096,
      let line = String(decoding: data, as: UTF8.self)
        .split(whereSeparator: \.isNewline).first
    else {
      throw refused(
        "the password file \(path) cannot be read, or is empty",
        "Correct TIDEMARK_WEBDAV_PASSWORD_FILE.")
    }
    return String(line)
  }

  private static func refused(_ what: String, _ advice: String) -> StoreError {
    StoreError(.configuration, operation: "open", target: "webdav", response: what, advice: advice)
  }
}

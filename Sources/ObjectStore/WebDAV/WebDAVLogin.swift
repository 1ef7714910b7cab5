import Foundation

/// Finds the login of a WebDAV store.
enum WebDAVLogin {
  private static let names = (
    user: "TIDEMARK_WEBDAV_USER", password: "TIDEMARK_WEBDAV_PASSWORD",
    passwordFile: "TIDEMARK_WEBDAV_PASSWORD_FILE", token: "TIDEMARK_WEBDAV_TOKEN",
    tokenFile: "TIDEMARK_WEBDAV_TOKEN_FILE"
  )

  /// A token, or user and password: from the environment, then the settings, then `.netrc`.
  ///
  /// - Returns: nil if none is configured.
  /// - Throws: `configuration` for half of a login, two logins, or an unreadable file.
  static func resolve(
    environment: [String: String], settings: StoreSettings, url: String
  ) throws -> WebDAVCredentials? {
    let login = try password(environment: environment, settings: settings)
    let hasPassword = login.user != nil || login.password != nil
    if let token = try token(environment: environment, settings: settings, hasPassword: hasPassword)
    {
      return .token(token)
    }
    switch login {
    case (let user?, let password?):
      guard !user.contains(":") else {
        throw refused("the user name holds a colon", "Basic authentication allows none.")
      }
      return .password(user: user, password: password)
    case (nil, _?):
      throw refused("there is a password, but no user", "Set \(names.user) as well.")
    case (let user, nil):
      let found = try NetrcFile.login(environment: environment, host: host(of: url), user: user)
      if let found { return .password(user: found.user, password: found.password) }
      guard user == nil else {
        throw refused("there is a user, but no password", "Set \(names.password) as well.")
      }
      return nil
    }
  }

  private static func password(environment: [String: String], settings: StoreSettings) throws -> (
    user: String?, password: String?
  ) {
    let user = environment.text(names.user) ?? settings.webdavUser
    if let password = environment.text(names.password) { return (user, password) }
    if let path = environment.text(names.passwordFile) {
      return (user, try firstLine(of: path, "password", "Correct \(names.passwordFile)."))
    }
    if let path = settings.webdavPasswordFile {
      return (user, try firstLine(of: path, "password", "Correct webdav.password-file."))
    }
    return (user, settings.webdavPassword)
  }

  /// The token; one in the environment overrides a password in the settings, and vice versa.
  private static func token(
    environment: [String: String], settings: StoreSettings, hasPassword: Bool
  ) throws -> String? {
    let hasOwnPassword = [names.user, names.password, names.passwordFile].contains {
      environment.text($0) != nil
    }
    let token: String
    if let text = environment.text(names.token) {
      token = text
    } else if let path = environment.text(names.tokenFile) {
      token = try firstLine(of: path, "token", "Correct \(names.tokenFile).")
    } else if let path = settings.webdavTokenFile, !hasOwnPassword {
      guard !hasPassword else {
        throw refused(
          "there are both a token and a password",
          "Remove webdav.token-file, or webdav.user and webdav.password-file.")
      }
      return try checked(firstLine(of: path, "token", "Correct webdav.token-file."))
    } else {
      return nil
    }
    guard !hasOwnPassword else {
      throw refused(
        "there are both a token and a password",
        "Unset \(names.token) and \(names.tokenFile), or the user and the password.")
    }
    return try checked(token)
  }

  /// Accepts only the characters of RFC 6750, section 2.1: the token becomes part of a header.
  private static func checked(_ token: String) throws -> String {
    let isSound = token.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
    guard isSound else { throw refused("the token holds white space", "Correct the token.") }
    return token
  }

  private static func firstLine(of path: String, _ what: String, _ advice: String) throws -> String
  {
    guard let line = SecretFile.firstLine(of: path) else {
      throw refused("the \(what) file \(path) cannot be read, or is empty", advice)
    }
    return line
  }

  private static func host(of url: String) -> String {
    let authority = url.split(separator: "/").dropFirst().first ?? ""
    guard let colon = authority.lastIndex(of: ":"), !authority[colon...].contains("]") else {
      return String(authority)
    }
    return String(authority[..<colon])
  }

  /// The error for a login that cannot be used.
  static func refused(_ what: String, _ advice: String) -> StoreError {
    StoreError(.configuration, operation: "open", target: "webdav", response: what, advice: advice)
  }
}

import ObjectStore
import Platform

/// Checks who else can read the secrets in or named by a configuration.
extension Settings {
  /// Rejects a login in a configuration file that every user of the machine can read.
  ///
  /// - Throws: ``Failure``; errors of the file.
  func checkReaders(of path: String) throws {
    guard storeSettings.proxy?.contains("@") == true, try Self.isReadByOthers(path) else { return }
    throw Failure(
      .configuration,
      "\(path): 'proxy' has a login, and every user of this machine can read it there; leave the "
        + "login out and set HTTPS_PROXY where the upload runs, or 'chmod 600' a file of your own")
  }

  /// Files with a secret that every user of the machine can read.
  func secretsReadByOthers(environment: [String: String]) -> [String] {
    let named = Self.keys.filter { $0.file == .secret }.map { $0.value(self) }
    let variables =
      Self.keys.flatMap(\.secretFileVariables)
      + ["AWS_SESSION_TOKEN_FILE", "AWS_SHARED_CREDENTIALS_FILE", "NETRC"]
    let usual = environment["HOME"].map { [$0 + "/.netrc", $0 + "/.aws/credentials"] } ?? []
    let paths = named.compactMap(\.self) + variables.compactMap { environment[$0] } + usual
    return Set(paths).filter { (try? Self.isReadByOthers($0)) ?? false }.sorted()
  }

  /// Whether every user of the machine can read the heartbeat's URL in a configuration file, and so
  /// send it.
  func exposesHeartbeat(in path: String) throws -> Bool {
    try hooks.heartbeat != nil && Self.isReadByOthers(path)
  }

  /// Whether a file, and its folder, are accessible to users who are neither its owner nor in its
  /// group.
  private static func isReadByOthers(_ path: String) throws -> Bool {
    guard let resolved = File.resolve(path), let status = try FileStatus(resolved),
      let folder = try FileStatus(AtomicFile.directory(of: resolved))
    else { return false }
    return status.rights & 0o004 != 0 && folder.rights & 0o001 != 0
  }
}

import Foundation
import Platform

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

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
    let descriptor = withOwnRights { open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) }
    guard descriptor >= 0 else {
      guard named != nil else { return nil }
      throw refused("the file \(path) that NETRC names cannot be read", "Correct NETRC.")
    }
    let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
      let data = try? file.read(upToCount: maximumBytes)
    else { return nil }
    let text = String(decoding: data, as: UTF8.self)
    guard let login = Netrc.login(in: text, host: host, user: user) else { return nil }
    let stranger = withOwnRights { try? PathOwners.stranger(at: path) }
    guard status.st_uid == geteuid() || status.st_uid == 0, stranger == nil else {
      throw refused(
        "\(path) belongs to another user", "Set NETRC, or a login of your own.")
    }
    return login
  }

  private static func refused(_ what: String, _ advice: String) -> StoreError {
    StoreError(.configuration, operation: "open", target: "webdav", response: what, advice: advice)
  }
}

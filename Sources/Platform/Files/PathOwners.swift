#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The users who decide what is at a path: the owners of each folder and link on the way, who can
/// exchange what is below.
package enum PathOwners {
  /// A file and its owner.
  package struct Owned: Sendable, Equatable {
    package let path: String
    package let owner: UInt32

    /// Describes a file.
    package init(path: String, owner: UInt32) { (self.path, self.owner) = (path, owner) }
  }

  /// The most links followed on the way, as in Linux.
  private static let mostLinks = 40

  /// The first file on the way to a path by which another user decides what this process reads
  /// there; nil if none does.
  ///
  /// For root that is whoever owns a folder or link on the way. Whoever makes a folder for another
  /// user to work in is trusted with it, but not with the file itself.
  ///
  /// - Throws: ``SystemError``.
  package static func stranger(at path: String) throws(SystemError) -> Owned? {
    let user = geteuid()
    let path = path.hasPrefix("/") ? path : (File.resolve(".") ?? "") + "/" + path
    if user == 0 { return try first(on: path, besides: []) }
    for path in [path, File.resolve(path) ?? path] {
      guard let status = try FileStatus(path), status.owner != user, status.owner != 0
      else { continue }
      return Owned(path: path, owner: status.owner)
    }
    return nil
  }

  /// The first folder or link on the way to a path, itself included, that others own.
  ///
  /// What does not exist has no owner. The result is nil if all owners are among these users.
  /// Root is always one of them, and whoever owns `/`, which in a container may be root under
  /// another number.
  ///
  /// - Parameter path: an absolute path.
  /// - Throws: ``SystemError``.
  package static func first(on path: String, besides users: [UInt32]) throws(SystemError)
    -> Owned?
  {
    var trusted = users + [0]
    if let root = try FileStatus("/") { trusted.append(root.owner) }
    var rest = parts(of: path)
    var done = ""
    var links = 0
    while !rest.isEmpty {
      let name = rest.removeFirst()
      guard name != ".." else {
        done = done.lastSlash.map { String(done[..<$0]) } ?? ""
        continue
      }
      let next = done + "/" + name
      guard let status = try FileStatus(next) else { return nil }
      guard trusted.contains(status.owner) else { return Owned(path: next, owner: status.owner) }
      guard status.kind == .link else {
        done = next
        continue
      }
      links += 1
      let target = try target(of: next)
      guard links <= mostLinks else {
        throw SystemError(operation: "follow the links of", path: path, errno: ELOOP)
      }
      if target.hasPrefix("/") { done = "" }
      rest = parts(of: target) + rest
    }
    return nil
  }

  private static func parts(of path: String) -> [String] {
    path.split(separator: "/").map(String.init).filter { $0 != "." }
  }

  private static func target(of link: String) throws(SystemError) -> String {
    var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = readlink(link, &buffer, buffer.count)
    guard count >= 0 else {
      throw SystemError(operation: "read the link", path: link, errno: errno)
    }
    return String(decoding: buffer.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self)
  }
}

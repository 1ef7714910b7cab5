#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

extension Descriptor {
  #if canImport(Darwin)
    private static let folderOnly = O_SEARCH
    private static let linkOnly = O_SYMLINK
  #else
    /// `O_PATH`, which the C module does not show.
    private static let linkOnly: Int32 = 0o10_000_000
    private static let folderOnly = linkOnly | O_DIRECTORY
  #endif
  /// The most links followed on the way, as in Linux.
  private static let mostLinks = 40
  /// The most folders and links on the way: links can make any path as long as their makers like.
  private static let mostParts = 400
  /// The most attempts to make a folder on the way.
  private static let mostAttempts = 10

  /// Opens another program's file for reading, whose folders may belong to other users.
  ///
  /// Follows a link only if its maker may decide what is read: root, this process's user, or
  /// the owner of the file that it leads to. Otherwise a user whose folders root reads could
  /// exchange one of them for a link to any file. Opens each folder relative to its parent, so that
  /// nothing can be exchanged between the check and the opening.
  ///
  /// - Parameters:
  ///   - path: the file.
  ///   - followsLast: whether to follow a link at the path itself, too.
  /// - Throws: ``SystemError``, also if it is not a regular file.
  package init(openingForeign path: String, followsLast: Bool = false) throws(SystemError) {
    let opened = try Self.walk(path, to: .file(followsLink: followsLast))
    guard try opened.status().kind == .file else { throw Self.refusal(path, EINVAL) }
    self = opened
  }

  /// Opens a folder for reading that may belong to another user, as may those on the way to it.
  ///
  /// Follows links by the rule of ``init(openingForeign:followsLast:)``, and makes nothing below one that
  /// another user made.
  ///
  /// - Parameters:
  ///   - path: the folder.
  ///   - rights: permissions of missing folders before the process's umask; nil to make none.
  /// - Throws: ``SystemError``.
  package init(
    openingForeignFolder path: String, creating rights: UInt32? = nil
  ) throws(SystemError) {
    self = try Self.walk(path, to: .folder(creating: rights))
  }

  /// Opens the target of a path for its status only, and follows links of any user.
  ///
  /// - Parameter makers: receives the other users that made a link on the way.
  /// - Throws: ``SystemError``.
  package init(locating path: String, through makers: inout Set<UInt32>) throws(SystemError) {
    self = try Self.walk(path, to: .anything, through: &makers)
  }

  /// What a path has to lead to.
  private enum Goal {
    case file(followsLink: Bool)
    case folder(creating: UInt32?)
    /// Any kind of file, through links of any user.
    case anything
  }

  private static func walk(_ path: String, to goal: Goal) throws(SystemError) -> Descriptor {
    var makers: Set<UInt32> = []
    return try walk(path, to: goal, through: &makers)
  }

  /// Opens what a path leads to.
  ///
  /// - Parameter makers: the other users that made a link on the way.
  private static func walk(
    _ path: String, to goal: Goal, through makers: inout Set<UInt32>
  ) throws(SystemError) -> Descriptor {
    // In reverse order: the next part is the last element.
    var rest = Array(parts(of: path).reversed())
    var count = 0
    var folder = try start(of: path)
    // The owner of the current folder, where a relative path begins, is anybody.
    let trusted: [UInt32] = [0, geteuid(), try start(of: "/").status().owner]
    let foreignLink = SystemError(
      operation: "follow the link that another user made on the way to", path: path, errno: EACCES)
    /// Expects the makers of links to own what they lead to.
    func check(_ makers: Set<UInt32>, ofLinksTo found: borrowing Descriptor) throws(SystemError) {
      guard makers.isSubset(of: [try found.status().owner]) else { throw foreignLink }
    }
    var links = 0
    var attempts = 0
    while let part = rest.popLast() {
      count += 1
      guard count <= mostParts else { throw refusal(path, ELOOP) }
      let next: Descriptor
      do throws(SystemError) {
        if rest.isEmpty, case .file = goal {
          let file = Descriptor(
            number: try orRefusal(of: path) { () throws(SystemError) in
              try open(part, folder.number, path, [], O_NOFOLLOW | O_NONBLOCK, 0)
            }, path: path)
          try check(makers, ofLinksTo: file)
          return file
        }
        if rest.isEmpty, case .anything = goal {
          return try located(part, in: folder, path)
        }
        next = Descriptor(
          number: try open(part, folder.number, path, [], folderOnly | O_NOFOLLOW, 0),
          path: folder.path(of: part))
      } catch  where error.errno == ELOOP || error.errno == ENOTDIR {
        if rest.isEmpty, case .file(followsLink: false) = goal { throw error }
        links += 1
        guard links <= mostLinks else { throw error }
        let link = Descriptor(
          number: try open(part, folder.number, path, [], linkOnly | O_NOFOLLOW, 0),
          path: folder.path(of: part))
        let status = try link.status()
        guard status.kind == .link else { throw error }
        if !trusted.contains(status.owner) { makers.insert(status.owner) }
        let target = try target(of: link)
        if target.hasPrefix("/") { folder = try start(of: target) }
        rest += parts(of: target).reversed()
        continue
      } catch  where error.errno == ENOENT {
        guard case .folder(creating: let rights?) = goal else { throw error }
        // What is made belongs to this process's user, not to the maker of a link.
        guard makers.isEmpty else { throw foreignLink }
        // Another user may remove it again each time.
        attempts += 1
        guard attempts <= mostAttempts else { throw error }
        do throws(SystemError) {
          try folder.makeDirectory(part, rights: rights)
        } catch  where error.isTaken {
          // Another process made it meanwhile.
        }
        rest.append(part)
        continue
      }
      folder = next
      attempts = 0
    }
    switch goal {
    case .file: throw refusal(path, EISDIR)
    case .folder:
      try check(makers, ofLinksTo: folder)
      return Descriptor(
        number: try open(".", folder.number, path, .directory, 0, 0), path: path)
    case .anything: return folder
    }
  }

  /// Opens an entry of a folder for its status only; a link is refused with `ELOOP`.
  private static func located(
    _ name: String, in folder: borrowing Descriptor, _ path: String
  ) throws(SystemError) -> Descriptor {
    let found = Descriptor(
      number: try open(name, folder.number, path, [], linkOnly | O_NOFOLLOW, 0), path: path)
    guard try found.status().kind != .link else { throw refusal(path, ELOOP) }
    return found
  }

  private static func parts(of path: String) -> [String] {
    path.split(separator: "/").map(String.init).filter { $0 != "." }
  }

  /// The folder at which a path starts.
  private static func start(of path: String) throws(SystemError) -> Descriptor {
    let name = path.hasPrefix("/") ? "/" : "."
    return Descriptor(
      number: try open(name, AT_FDCWD, path, [], folderOnly, 0), path: name == "/" ? "" : name)
  }

  /// Where an open link leads.
  private static func target(of link: borrowing Descriptor) throws(SystemError) -> String {
    var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
    #if canImport(Darwin)
      let count = freadlink(link.number, &buffer, buffer.count)
    #else
      let count = readlinkat(link.number, "", &buffer, buffer.count)
    #endif
    guard count >= 0 else {
      throw SystemError(operation: "read the link", path: link.path, errno: errno)
    }
    let target = buffer.prefix(count).map(UInt8.init(bitPattern:))
    guard let text = String(validating: target, as: UTF8.self) else {
      throw SystemError(operation: "follow the link", path: link.path, errno: EILSEQ)
    }
    return text
  }
}

extension File {
  /// The path of another program's file with links resolved, at the path itself, too; each by the rule
  /// of ``Descriptor/init(openingForeign:followsLast:)``.
  ///
  /// - Throws: ``SystemError``, also if it is not a regular file.
  package static func resolveForeign(_ path: String) throws(SystemError) -> String {
    let opened = try Descriptor(openingForeign: path, followsLast: true).status()
    guard let resolved = resolve(path), let found = try FileStatus(resolved),
      (found.device, found.inode) == (opened.device, opened.inode)
    else { throw SystemError(operation: "follow the links of", path: path, errno: EAGAIN) }
    return resolved
  }
}

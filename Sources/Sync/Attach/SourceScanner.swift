import Platform

/// Walks the folders of a source, as `find` does, and reports changes.
///
/// Opens each folder relative to its parent, so that no link can be inserted between; the number of
/// open folders equals the depth of the tree.
struct SourceScanner {
  /// A matching file.
  struct File {
    let path: String
    let status: FileStatus
  }

  /// A folder's state before its files were read.
  struct Folder {
    let status: FileStatus
    let fingerprint: FolderFingerprint
  }

  let source: LogSource
  /// Files unchanged since then are skipped.
  let since: FileTime
  /// Paths of files that are reported even so.
  var again: Set<String> = []
  /// Called for each matching, changed file.
  var file: (File) throws -> Void
  /// Called for each folder that was read.
  var folder: (String, Folder) throws -> Void
  /// Called for each path that could not be read.
  var problem: (SystemError) -> Void

  /// The deepest folder that is searched.
  private static let depthLimit = 64

  /// Walks the folders.
  func run() throws {
    let root = source.path.root
    do {
      let folder = try Descriptor(openingDirectory: root)
      var links: Set<AttachedFile.Number> = []
      try walk(folder, root == "/" ? "" : root, source.path.start, depth: 0, &links)
    } catch let error as SystemError {
      problem(SystemError(operation: "read", path: root, errno: error.errno))
    }
  }

  private func walk(
    _ open: borrowing Descriptor, _ path: String, _ progress: SourcePattern.Progress, depth: Int,
    _ links: inout Set<AttachedFile.Number>
  ) throws {
    let status = try open.status()
    var folders: [(name: [UInt8], progress: SourcePattern.Progress)] = []
    var fingerprint = FolderFingerprint()
    try open.forEachEntry { entry in
      let name = entry.name
      fingerprint.add(name, entry.inode)
      let isMatch = entry.kind != .directory && source.path.matches(name, at: progress)
      let inside = entry.kind != .file ? source.path.entering(name, from: progress) : nil
      guard isMatch || inside != nil, !Self.isSelfOrParent(name),
        !source.excludes(name, in: path), let status = open.status(ofBytes: name)
      else { return }
      switch status.kind {
      case .file where isMatch:
        if status.changed >= since || isWanted(path, Array(name)) {
          try report(path, name, status)
        }
      case .directory: if let inside { folders.append((Array(name), inside)) }
      case .link: try follow(path, Array(name), isMatch: isMatch, inside, depth: depth, &links)
      default: return
      }
    }
    try folder(path.isEmpty ? "/" : path, Folder(status: status, fingerprint: fingerprint))
    for (name, progress) in folders {
      try enter(name, in: open, path, progress, depth: depth, &links)
    }
  }

  private func isWanted(_ folder: String, _ name: [UInt8]) -> Bool {
    !again.isEmpty && again.contains(Self.path(folder, name))
  }

  private static func isSelfOrParent(_ name: UnsafeBufferPointer<UInt8>) -> Bool {
    name.count <= 2 && name.allSatisfy { $0 == UInt8(ascii: ".") }
  }

  private func report(
    _ folder: String, _ bytes: UnsafeBufferPointer<UInt8>, _ status: FileStatus
  ) throws {
    guard let name = String(validating: bytes, as: UTF8.self) else {
      let path = folder + "/" + String(decoding: bytes, as: UTF8.self)
      return problem(
        SystemError(
          operation: "use, as its name is no UTF-8,", path: path,
          errno: SystemError.Number.malformed))
    }
    try file(File(path: folder + "/" + name, status: status))
  }

  private func enter(
    _ name: [UInt8], in parent: borrowing Descriptor, _ path: String,
    _ progress: SourcePattern.Progress,
    depth: Int, _ links: inout Set<AttachedFile.Number>
  ) throws {
    let path = Self.path(path, name)
    do {
      guard depth < Self.depthLimit else {
        throw SystemError(
          operation: "read", path: path, errno: SystemError.Number.tooManyLinks)
      }
      let folder = try Descriptor(String(decoding: name, as: UTF8.self), in: parent, .directory)
      try walk(folder, path, progress, depth: depth + 1, &links)
    } catch let error as SystemError {
      problem(SystemError(operation: "read", path: path, errno: error.errno))
    }
  }

  /// Follows a link if it stays below the root, or if links are allowed.
  private func follow(
    _ folder: String, _ name: [UInt8], isMatch: Bool, _ inside: SourcePattern.Progress?, depth: Int,
    _ links: inout Set<AttachedFile.Number>
  ) throws {
    guard let target = Platform.File.resolve(Self.path(folder, name)),
      let root = Platform.File.resolve(source.path.root),
      source.followsLinks || target.hasPrefix(root == "/" ? "/" : root + "/"),
      let status = try FileStatus(target)
    else { return }
    switch status.kind {
    case .file where isMatch:
      if status.changed >= since || again.contains(target) {
        try file(File(path: target, status: status))
      }
    case .directory:
      guard let inside, depth < Self.depthLimit,
        links.insert(AttachedFile.Number(status)).inserted
      else { return }
      do {
        let open = try Descriptor(openingDirectory: target, followsLinks: false)
        try walk(open, target, inside, depth: depth + 1, &links)
      } catch let error as SystemError {
        problem(SystemError(operation: "read", path: target, errno: error.errno))
      }
    default: return
    }
  }

  private static func path(_ folder: String, _ name: [UInt8]) -> String {
    folder + "/" + String(decoding: name, as: UTF8.self)
  }
}

import Platform

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Walks the folders of a source, as `find` does, and tells what has changed.
///
/// Each folder is opened below the one before, so that nobody can put a link in between; as many
/// folders are open at once as the tree is deep.
struct SourceScanner {
  /// A file that matches.
  struct File {
    let path: String
    let status: FileStatus
  }

  /// A folder, as it was before its files were looked at.
  struct Folder {
    let status: FileStatus
    let fingerprint: FolderFingerprint
  }

  let source: LogSource
  /// Files that have not changed since are passed over.
  let since: FileTime
  /// A file that matches and has changed.
  var file: (File) throws -> Void
  /// A folder that was read.
  var folder: (String, Folder) throws -> Void
  /// What could not be read.
  var problem: (SystemError) -> Void

  /// A tree that is deeper than this is no folder of logs.
  private static let depthLimit = 64

  /// Walks.
  func run() throws {
    let root = source.path.root
    do {
      let descriptor = try Self.open(root, in: AT_FDCWD, followsLinks: true)
      var links: Set<AttachedFile.Number> = []
      try walk(descriptor, root == "/" ? "" : root, source.path.start, depth: 0, &links)
    } catch let error as SystemError {
      problem(SystemError(operation: "read", path: root, errno: error.errno))
    }
  }

  /// Takes over the descriptor.
  private func walk(
    _ descriptor: Int32, _ path: String, _ progress: SourcePattern.Progress, depth: Int,
    _ links: inout Set<AttachedFile.Number>
  ) throws {
    guard let stream = fdopendir(descriptor) else {
      close(descriptor)
      throw SystemError(operation: "read", path: path, errno: errno)
    }
    defer { closedir(stream) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else {
      throw SystemError(operation: "stat", path: path, errno: errno)
    }
    var folders: [(name: [UInt8], progress: SourcePattern.Progress)] = []
    var fingerprint = FolderFingerprint()
    while let entry = readdir(stream) {
      try withUnsafeBytes(of: &entry.pointee.d_name) { field in
        let bytes = field.bindMemory(to: UInt8.self)
        let name = UnsafeBufferPointer(rebasing: bytes.prefix { $0 != 0 })
        fingerprint.add(name, UInt64(entry.pointee.d_ino))
        let type = Int32(entry.pointee.d_type)
        let isMatch = type != DT_DIR && source.path.matches(name, at: progress)
        let inside = type != DT_REG ? source.path.entering(name, from: progress) : nil
        guard isMatch || inside != nil, !Self.isSelfOrParent(name),
          !source.excludes(name, in: path),
          let status = try Self.status(of: bytes, in: descriptor)
        else { return }
        switch status.kind {
        case .file where isMatch: if status.changed >= since { try report(path, name, status) }
        case .directory: if let inside { folders.append((Array(name), inside)) }
        case .link: try follow(path, Array(name), isMatch: isMatch, inside, depth: depth, &links)
        default: return
        }
      }
    }
    try folder(
      path.isEmpty ? "/" : path, Folder(status: FileStatus(status), fingerprint: fingerprint))
    for (name, progress) in folders {
      try enter(name, in: descriptor, path, progress, depth: depth, &links)
    }
  }

  private static func isSelfOrParent(_ name: UnsafeBufferPointer<UInt8>) -> Bool {
    name.count <= 2 && name.allSatisfy { $0 == UInt8(ascii: ".") }
  }

  /// The status of an entry, a link's own; nil where it is gone already.
  private static func status(
    of name: UnsafeBufferPointer<UInt8>, in folder: Int32
  ) throws -> FileStatus? {
    var status = stat()
    let found = name.withMemoryRebound(to: CChar.self) {
      $0.baseAddress.map { fstatat(folder, $0, &status, AT_SYMLINK_NOFOLLOW) }
    }
    return found == 0 ? FileStatus(status) : nil
  }

  private func report(
    _ folder: String, _ bytes: UnsafeBufferPointer<UInt8>, _ status: FileStatus
  ) throws {
    guard let name = String(validating: bytes, as: UTF8.self) else {
      let path = folder + "/" + String(decoding: bytes, as: UTF8.self)
      return problem(
        SystemError(operation: "use, as its name is no UTF-8,", path: path, errno: EILSEQ))
    }
    try file(File(path: folder + "/" + name, status: status))
  }

  private func enter(
    _ name: [UInt8], in parent: Int32, _ path: String, _ progress: SourcePattern.Progress,
    depth: Int, _ links: inout Set<AttachedFile.Number>
  ) throws {
    let path = Self.path(path, name)
    do {
      guard depth < Self.depthLimit else {
        throw SystemError(operation: "read", path: path, errno: ELOOP)
      }
      let descriptor = try Self.open(String(decoding: name, as: UTF8.self), in: parent)
      try walk(descriptor, path, progress, depth: depth + 1, &links)
    } catch let error as SystemError {
      problem(SystemError(operation: "read", path: path, errno: error.errno))
    }
  }

  /// Follows a link where it stays below the root, or where links are wanted.
  private func follow(
    _ folder: String, _ name: [UInt8], isMatch: Bool, _ inside: SourcePattern.Progress?, depth: Int,
    _ links: inout Set<AttachedFile.Number>
  ) throws {
    guard let target = Self.resolve(Self.path(folder, name)),
      let root = Self.resolve(source.path.root),
      source.followsLinks || target.hasPrefix(root == "/" ? "/" : root + "/"),
      let status = try FileStatus(target)
    else { return }
    switch status.kind {
    case .file where isMatch:
      if status.changed >= since { try file(File(path: target, status: status)) }
    case .directory:
      guard let inside, depth < Self.depthLimit,
        links.insert(AttachedFile.Number(status)).inserted
      else { return }
      do {
        try walk(Self.open(target, in: AT_FDCWD), target, inside, depth: depth + 1, &links)
      } catch let error as SystemError {
        problem(SystemError(operation: "read", path: target, errno: error.errno))
      }
    default: return
    }
  }

  private static func open(
    _ name: String, in parent: Int32, followsLinks: Bool = false
  ) throws -> Int32 {
    let flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC | (followsLinks ? 0 : O_NOFOLLOW)
    let descriptor = openat(parent, name, flags)
    guard descriptor >= 0 else { throw SystemError(operation: "open", path: name, errno: errno) }
    return descriptor
  }

  private static func resolve(_ path: String) -> String? {
    guard let resolved = realpath(path, nil) else { return nil }
    defer { free(resolved) }
    return String(cString: resolved)
  }

  private static func path(_ folder: String, _ name: [UInt8]) -> String {
    folder + "/" + String(decoding: name, as: UTF8.self)
  }
}

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
    /// Whether it matches only as the rotation of a log that does.
    let isRotation: Bool
  }

  /// A folder's state before its files were read.
  struct Folder {
    let status: FileStatus
    let fingerprint: FolderFingerprint
    /// Whether all files were reported that match, or may be rotations.
    var isSearched = true
    /// The names of files that links led to.
    var targets: Set<String> = []
    /// Whether no pattern and no link leads there: rotation has moved logs there.
    var isOld = false

    /// Adds what a later search of the folder has found.
    mutating func add(_ other: Self) {
      targets.formUnion(other.targets)
      isSearched = isSearched || other.isSearched
      isOld = isOld && other.isOld
    }
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

  /// The operation of an error about a file whose name is not valid UTF-8.
  static let unnamed = "use, as its name is not valid UTF-8,"

  /// The deepest folder that is searched.
  private static let depthLimit = 64

  /// Walks the folders.
  ///
  /// - Parameter oldFolders: those in a folder to which rotation has moved logs.
  func run(oldFolders: (_ folder: String) throws -> [String] = { _ in [] }) throws {
    let root = source.path.root
    do {
      let folder = try Descriptor(openingDirectory: root)
      let place = Place(path: root == "/" ? "" : root)
      var links = Links()
      try walk(folder, place, source.path.start, depth: 0, &links)
      for (folder, targets) in links.targets.sorted(by: { $0.key < $1.key }) {
        try readRotations(of: targets, in: folder)
        for old in try oldFolders(folder) { try readRotations(of: targets, in: old, isOld: true) }
      }
    } catch let error as SystemError {
      problem(SystemError(operation: "read", path: root, errno: error.errno))
    }
  }

  /// Reads one folder below the root, to which rotation has moved logs: no pattern has to lead there.
  ///
  /// Reports the files that may be rotations of the source's logs in the folder above. A folder that is
  /// gone has none.
  ///
  /// - Parameter owners: by path, those that the logs have had: who moves his own log to a folder decides
  ///   about no other user's file there.
  func readOldFolder(_ path: String, owners: [String: Set<UInt32>]) throws {
    let root = source.path.root
    do {
      var open = try Descriptor(openingDirectory: root)
      var place = Place(path: root == "/" ? "" : root)
      for name in path.dropFirst(place.path.utf8.count).split(separator: "/") {
        var name = String(name)
        guard !name.withUTF8({ source.excludes($0, in: place.path) }) else { return }
        open = try Descriptor(name, in: open, .directory)
        place = place.inside(name.utf8)
      }
      try readRotations(in: open, place, targets: [], isOld: true) { name, owner in
        LogSource.originalsAbove("\(path)/\(name)").contains {
          source.path.matches($0) && owners[$0]?.contains(owner) == true
        }
      }
    } catch let error as SystemError where !error.isNotFound {
      problem(SystemError(operation: "read", path: path, errno: error.errno))
    } catch is SystemError {}
  }

  /// Reports what may be rotations of files that links led to.
  ///
  /// - Parameters:
  ///   - logs: the names of the files, and their owners, who may have made the links: they decide about no
  ///     other user's file.
  ///   - path: the folder of the files, or one in it.
  ///   - isOld: whether it is the latter.
  private func readRotations(
    of logs: [String: UInt32], in path: String, isOld: Bool = false
  ) throws {
    do {
      let open = try Descriptor(openingForeignFolder: path)
      let place = Place(path: path == "/" ? "" : path)
      let targets = isOld ? [] : Set(logs.keys)
      try readRotations(in: open, place, targets: targets, isOld: isOld) { name, owner in
        LogSource.originalNames(of: name[...]).contains { logs[$0] == owner }
      }
    } catch let error as SystemError where !error.isNotFound {
      problem(SystemError(operation: "read", path: path, errno: error.errno))
    } catch is SystemError {}
  }

  private func readRotations(
    in open: borrowing Descriptor, _ place: Place, targets: Set<String>, isOld: Bool,
    _ isRotation: (_ name: String, _ owner: UInt32) -> Bool
  ) throws {
    let status = try open.status()
    var fingerprint = FolderFingerprint()
    try open.forEachEntry { entry in
      fingerprint.add(entry.name, entry.inode)
      guard entry.kind != .directory, !source.excludes(entry.name, in: place.path),
        let status = entryStatus(entry.name, in: open, place, isReported: { _ in true }),
        status.kind == .file, status.changed >= since || isWanted(place, entry.name),
        isRotation(String(decoding: entry.name, as: UTF8.self), status.owner)
      else { return }
      try report(place, entry.name, status, isRotation: true)
    }
    try folder(
      place.path.isEmpty ? "/" : place.path,
      Folder(
        status: status, fingerprint: fingerprint, isSearched: isOld, targets: targets,
        isOld: isOld))
  }

  /// From where in the pattern a folder was walked: what another user's link leads to is read again without
  /// it.
  private struct Walk {
    /// On any way.
    var all: SourcePattern.Progress?
    /// Without a link of another user than root and the one who uploads.
    var own: SourcePattern.Progress?
  }

  /// What links have led to.
  private struct Links {
    /// The folders that were walked.
    private var folders: [AttachedFile.Number: Walk] = [:]

    /// Records a walk; false if former ones found everything that it could.
    mutating func begin(
      at number: AttachedFile.Number, from progress: SourcePattern.Progress, isForeign: Bool
    ) -> Bool {
      var walk = folders[number] ?? Walk()
      guard !progress.isWithin(isForeign ? walk.all : walk.own) else { return false }
      walk.all = progress.and(walk.all)
      if !isForeign { walk.own = progress.and(walk.own) }
      folders[number] = walk
      return true
    }
    /// By folder, the names of matching files, with their owners.
    var targets: [String: [String: UInt32]] = [:]
  }

  /// A folder that is walked.
  private struct Place {
    /// Its path, below the target of the last link followed, so that a file has one path however
    /// many links lead to it.
    let path: String
    /// Its path with the links that were followed, if any: who made them decides what is read.
    var linked: String?
    /// Whether one of these is another user's.
    var isForeign = false

    func inside(_ name: some Sequence<UInt8>) -> Self {
      let name = String(decoding: Array(name), as: UTF8.self)
      return Self(
        path: "\(path)/\(name)", linked: linked.map { "\($0)/\(name)" }, isForeign: isForeign)
    }
  }

  private func walk(
    _ open: borrowing Descriptor, _ place: Place, _ progress: SourcePattern.Progress, depth: Int,
    _ links: inout Links
  ) throws {
    let path = place.path
    let status = try open.status()
    guard links.begin(at: .init(status), from: progress, isForeign: place.isForeign) else { return }
    var folders: [(name: [UInt8], progress: SourcePattern.Progress)] = []
    var fingerprint = FolderFingerprint()
    try open.forEachEntry { entry in
      let name = entry.name
      fingerprint.add(name, entry.inode)
      let isNamed = entry.kind != .directory && source.path.matches(name, at: progress)
      let inside = entry.kind != .file ? source.path.entering(name, from: progress) : nil
      guard isNamed || entry.kind == .file || inside != nil,
        !source.excludes(name, in: path),
        let status = entryStatus(
          name, in: open, place, isReported: { isNamed || isRotation($0, in: path, progress) })
      else { return }
      switch status.kind {
      case .file where status.changed >= since || isWanted(place, name):
        // A name's originals are looked for last: who writes logs can make that costly.
        if isNamed || entry.kind == .file && isRotation(name, in: path, progress) {
          try report(place, name, status, isRotation: !isNamed)
        }
      case .directory: if let inside { folders.append((Array(name), inside)) }
      case .link: try follow(place.inside(name), isMatch: isNamed, inside, depth: depth, &links)
      default: return
      }
    }
    try folder(path.isEmpty ? "/" : path, Folder(status: status, fingerprint: fingerprint))
    for (name, progress) in folders {
      try enter(name, in: open, place, progress, depth: depth, &links)
    }
  }

  /// Whether a name is that of a rotation of a log that matches, which a program may still be writing.
  private func isRotation(
    _ name: UnsafeBufferPointer<UInt8>, in folder: String, _ progress: SourcePattern.Progress
  ) -> Bool {
    guard LogSource.mayBeRotated(name) else { return false }
    return LogSource.originalNames(of: String(decoding: name, as: UTF8.self)[...]).contains {
      var original = $0
      return original.withUTF8 {
        source.path.matches($0, at: progress) && !source.excludes($0, in: folder)
      }
    }
  }

  /// The status of an entry; nil if it is gone, or if it cannot be read, which is reported.
  ///
  /// - Parameter isReported: whether that concerns a log. It concerns all if their folder is to blame.
  private func entryStatus(
    _ name: UnsafeBufferPointer<UInt8>, in open: borrowing Descriptor, _ place: Place,
    isReported: (UnsafeBufferPointer<UInt8>) -> Bool
  ) -> FileStatus? {
    do {
      return try open.status(ofBytes: name)
    } catch {
      if error.isDenied {
        let folder = place.path.isEmpty ? "/" : place.path
        problem(SystemError(operation: "read", path: folder, errno: error.errno))
      } else if isReported(name) {
        problem(
          SystemError(operation: "read", path: place.inside(name).path, errno: error.errno))
      }
      return nil
    }
  }

  private func isWanted(_ place: Place, _ name: UnsafeBufferPointer<UInt8>) -> Bool {
    !again.isEmpty && isWanted(place.inside(name))
  }

  private func isWanted(_ file: Place) -> Bool {
    again.contains(file.path) || file.linked.map(again.contains) ?? false
  }

  private func report(
    _ folder: Place, _ bytes: UnsafeBufferPointer<UInt8>, _ status: FileStatus, isRotation: Bool
  ) throws {
    let place = folder.inside(bytes)
    guard String(validating: bytes, as: UTF8.self) != nil else {
      return problem(
        SystemError(
          operation: Self.unnamed, path: place.path,
          errno: SystemError.Number.malformed))
    }
    try report(place, status, isRotation: isRotation)
  }

  /// Reports a file, unless the links to it were made by users who may not decide what is read.
  private func report(
    _ place: Place, _ status: FileStatus, isRotation: Bool = false
  ) throws {
    guard mayFollow(place.linked, to: status) else { return }
    try file(File(path: place.path, status: status, isRotation: isRotation))
  }

  /// Whether who made the links on a path may decide that the file is read that they lead to.
  private func mayFollow(_ linked: String?, to status: FileStatus) -> Bool {
    guard let linked else { return true }
    do {
      let file = try Descriptor(openingForeign: linked, followsLast: true).status()
      // If it leads elsewhere since it was resolved, the next pass follows it.
      return AttachedFile.Number(file) == AttachedFile.Number(status)
    } catch {
      if !error.isNotFound { problem(error) }
      return false
    }
  }

  private func enter(
    _ name: [UInt8], in parent: borrowing Descriptor, _ folder: Place,
    _ progress: SourcePattern.Progress,
    depth: Int, _ links: inout Links
  ) throws {
    let place = folder.inside(name)
    do {
      guard depth < Self.depthLimit else {
        throw SystemError(
          operation: "read", path: place.path, errno: SystemError.Number.tooManyLinks)
      }
      let open = try Descriptor(String(decoding: name, as: UTF8.self), in: parent, .directory)
      try walk(open, place, progress, depth: depth + 1, &links)
    } catch let error as SystemError {
      problem(SystemError(operation: "read", path: place.path, errno: error.errno))
    }
  }

  /// Follows a link if it stays below the root, or if links are allowed.
  private func follow(
    _ link: Place, isMatch: Bool, _ inside: SourcePattern.Progress?, depth: Int,
    _ links: inout Links
  ) throws {
    guard isMatch || inside != nil else { return }
    let path = link.linked ?? link.path
    var makers: Set<UInt32> = []
    let status: FileStatus
    do {
      status = try Descriptor(locating: path, through: &makers).status()
    } catch {
      // A user who makes links can change where they lead at any moment: the rest of the folder is read.
      // One that leads nowhere, or in a circle, hides nothing.
      if !error.isNotFound, error.errno != SystemError.Number.tooManyLinks {
        problem(SystemError(operation: "read", path: path, errno: error.errno))
      }
      return
    }
    guard let target = Platform.File.resolve(path),
      let root = Platform.File.resolve(source.path.root),
      source.followsLinks || target.hasPrefix(root == "/" ? "/" : root + "/")
    else { return }
    let place = Place(path: target, linked: path, isForeign: !makers.isEmpty)
    switch status.kind {
    case .file where isMatch:
      guard let found = try? FileStatus(target),
        AttachedFile.Number(found) == AttachedFile.Number(status), mayFollow(path, to: status)
      else { return }
      let name = String(AttachedFile.name(of: target))
      links.targets[AttachedFile.folder(of: target), default: [:]][name] = status.owner
      if status.changed >= since || isWanted(place) {
        try file(File(path: target, status: status, isRotation: false))
      }
    case .directory:
      guard let inside, depth < Self.depthLimit else { return }
      guard makers.isSubset(of: [status.owner]) else {
        return problem(
          SystemError(operation: "read", path: path, errno: SystemError.Number.accessDenied))
      }
      do {
        let open = try Descriptor(openingDirectory: target, followsLinks: false)
        // If it leads elsewhere since it was located, the next pass follows it.
        guard AttachedFile.Number(try open.status()) == AttachedFile.Number(status) else { return }
        try walk(open, place, inside, depth: depth + 1, &links)
      } catch let error as SystemError {
        problem(
          SystemError(operation: "read", path: makers.isEmpty ? target : path, errno: error.errno))
      }
    default: return
    }
  }
}

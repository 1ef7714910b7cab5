import Platform
import Replica
import SessionLog

/// The files that displaced ones may have become, inside the pattern of a source or not.
struct RotationTargets {
  /// By index; nil once taken.
  private var files: [AttachCandidate?]
  private let numbers: [AttachedFile.Number: [Int]]
  /// In the order of their names.
  private let names: [(name: String, index: Int)]
  /// By the hash of their first bytes, for those with enough of them.
  private lazy var heads = Self.heads(of: files)
  /// The first bytes of those that were compared with a shorter log; none of one that cannot be read.
  private var shortHeads: [Int: [UInt8]] = [:]

  init(_ files: [AttachCandidate]) {
    self.files = files
    numbers = Dictionary(grouping: files.indices) { AttachedFile.Number(files[$0].status) }
    names = files.indices.map { (String(AttachedFile.name(of: files[$0].path)), $0) }
      .sorted { $0 < $1 }
  }

  /// Those that are left.
  var left: [AttachCandidate] { files.compactMap(\.self) }

  mutating func remove(_ path: String) {
    for index in files.indices where files[index]?.path == path { files[index] = nil }
  }

  /// Removes and returns the one that a file has become; nil if there is none.
  ///
  /// The order is: same number, rotated names, neighbours, others; in each, plain before compressed. Of the
  /// first two, those come last that are in a folder beside it that no source names, which may hold other
  /// links to it.
  ///
  /// - Parameter isFile: whether a target is the file, by its content.
  /// - Throws: errors of the closure.
  mutating func take(
    for file: AttachedFile, where isFile: (AttachCandidate) throws -> Bool
  ) throws -> AttachCandidate? {
    if let found = try takeNumbered(for: file, where: isFile) { return found }
    let indices = (numbers[file.number] ?? []) + similar(to: file)
    return take(try first(of: indices, for: file, where: isFile))
  }

  /// Removes and returns the file itself, if it was moved to where a source or its own folder leads, or got
  /// a rotated name.
  ///
  /// Another one may begin like it.
  mutating func takeNumbered(
    for file: AttachedFile, where isFile: (AttachCandidate) throws -> Bool
  ) throws -> AttachCandidate? {
    let indices = (numbers[file.number] ?? []).filter {
      guard isSame(file, $0) else { return false }
      return isBeside(file, $0)
        || LogSource.isRotatedName(files[$0]?.path ?? "", of: file.source.path)
    }
    return take(try first(of: indices, for: file, where: isFile))
  }

  private mutating func take(_ index: Int?) -> AttachCandidate? {
    guard let index else { return nil }
    defer { files[index] = nil }
    return files[index]
  }

  private func first(
    of indices: [Int], for file: AttachedFile, where isFile: (AttachCandidate) throws -> Bool
  ) throws -> Int? {
    let ranked = indices.compactMap { index in
      rank(index, for: file).map { (rank: $0, path: files[index]?.path ?? "", index: index) }
    }
    var left = Self.mostCompared
    return try ranked.sorted { $0 < $1 }.map(\.index).first { index in
      guard let target = files[index] else { return false }
      if !file.isAt(target.status) { left -= 1 }
      return try left >= 0 && isFile(target)
    }
  }

  /// How many files are compared with one that may be any of them: who writes logs can make many begin
  /// alike.
  static let mostCompared = 32

  private func rank(_ index: Int, for file: AttachedFile) -> Int? {
    guard let target = files[index], file.mayBelong(to: target.status) else { return nil }
    let isBeside = isBeside(file, index)
    let isRotated = LogSource.isRotatedName(target.path, of: file.source.path)
    if isSame(file, index) { return (isBeside ? 0 : isRotated ? 2 : 16) + (isRotated ? 0 : 1) }
    // A copy of a log that was rotated before is an archive's, unless it was compressed there.
    guard
      isBeside || isRotated
        || target.form != nil
          && LogSource.stem(of: target.path) == LogSource.stem(of: file.source.path)
    else { return nil }
    guard file.mayBe(at: target.path) else { return nil }
    // Rotation names what it made, and another log may begin alike.
    let other = file.isNeighbour(target.path) ? 12 : 13
    return (isRotated ? isBeside ? 3 : 8 : other) + (target.form == nil ? 0 : 3)
  }

  /// Whether a target has the file's number: one that was compressed since has another.
  private func isSame(_ file: AttachedFile, _ index: Int) -> Bool {
    guard let target = files[index] else { return false }
    return file.isAt(target.status) && file.isCompressed == (target.form != nil)
  }

  private func isBeside(_ file: AttachedFile, _ index: Int) -> Bool {
    guard let target = files[index] else { return false }
    return AttachedFile.folder(of: target.path) == file.folder
      || target.source?.finds(target.path) == true
  }

  /// The targets that begin like a file and, if only little of it is known, have a name like its own; none
  /// for an empty one.
  private mutating func similar(to file: AttachedFile) -> [Int] {
    guard file.source.headLength > 0 || file.link != nil else { return [] }
    guard file.source.headLength < FileContent.headLength else {
      return heads[file.source.headHash] ?? []
    }
    let stem = LogSource.stem(of: file.source.path)
    var (low, high) = (names.startIndex, names.endIndex)
    while low < high {
      let middle = low + (high - low) / 2
      if names[middle].name < stem { low = middle + 1 } else { high = middle }
    }
    return names[low...].prefix { $0.name.hasPrefix(stem) }.map(\.index)
      .filter { file.source.isHead(head(of: $0)) }
  }

  private mutating func head(of index: Int) -> [UInt8] {
    if let head = shortHeads[index] { return head }
    let head = files[index].flatMap { try? FileContent($0.path).head() } ?? []
    shortHeads[index] = head
    return head
  }

  private static func heads(of files: [AttachCandidate?]) -> [String: [Int]] {
    Dictionary(
      files.indices.compactMap { index in
        guard let path = files[index]?.path, let head = try? FileContent(path).head(),
          head.count == FileContent.headLength
        else { return nil }
        return (Sidecar.Source.headHash(of: head), [index])
      }, uniquingKeysWith: +)
  }

  // MARK: Targets that no source matches

  /// Paths that files of a folder may have been moved or copied to: in the folder those that begin like
  /// them, in folders beside them those with rotated names, and in either their numbers.
  ///
  /// A number is used again once its file is removed: a short head, such as that of a table, identifies
  /// a file only by a name that rotation would use.
  ///
  /// - Throws: ``Platform/SystemError`` if the folder cannot be read; others are then not searched.
  static func paths(of files: [AttachedFile], in folder: String) throws -> [String] {
    let numbers = Dictionary(
      files.filter { !$0.isGone }.map { ($0.source.inode, $0) },
      uniquingKeysWith: { first, _ in first })
    let stems = Prefixes(files.map { LogSource.stem(of: $0.source.path) })
    let originals = Set(files.map(\.source.path))
    var (paths, below): ([String], [String]) = ([], [])
    func search(_ searched: String, _ isTarget: (_ name: String) -> Bool) throws {
      // The folder where a search starts may be a link.
      try Descriptor(openingForeignFolder: searched).forEachEntry { entry in
        let name = String(decoding: entry.name, as: UTF8.self)
        let path = AttachedFile.path(of: name, in: searched)
        if entry.kind == .directory {
          below.append(path)
        } else if numbers[entry.inode]?.mayBe(at: path) == true || isTarget(name) {
          paths.append(path)
        }
      }
    }
    try search(folder) { !stems.beginning($0).isEmpty }
    for old in below {
      // Most that cannot be read have nothing to do with these files.
      try? search(old) {
        LogSource.originals(of: $0, in: folder).contains(where: originals.contains)
      }
    }
    return paths.sorted()
  }
}

/// Texts to be found by what begins with them.
struct Prefixes {
  private let texts: Set<String>
  /// Their lengths, in UTF-8 bytes.
  private let lengths: [Int]

  init(_ texts: some Sequence<String>) {
    self.texts = Set(texts)
    lengths = Set(self.texts.map(\.utf8.count)).sorted()
  }

  /// Those with which a text begins, shortest first.
  func beginning(_ text: String) -> [String] {
    lengths.lazy.compactMap { String(text.utf8.prefix($0)) }.filter {
      $0.utf8.count <= text.utf8.count && texts.contains($0)
    }
  }
}

import Delta
import Platform
import Replica
import SessionLog

/// What is remembered of a file that is attached, or was until its session ended.
struct AttachedFile: Equatable {
  /// The session that reads it.
  let session: SessionID
  /// The file; ``SessionLog/Sidecar/Source/length`` is set when the session has ended.
  var source: Sidecar.Source
  /// How far into the file anybody has looked, in bytes.
  var seen: Int64
  /// The file just before that; nil where only the head is known.
  var link: Link?
  /// When the file had last changed then, or, of one that is gone, when it was there last;
  /// ``Platform/FileTime/epoch`` where that is not known.
  var changed: FileTime
  /// Whether it was found renamed, so that it ends as soon as it has stopped growing.
  var isRotated = false
  /// Whether what is there is the compressed form of what was read.
  var isCompressed = false
  /// When the session ends unless the file grows.
  var idleAt: Timestamp

  var isOpen: Bool { source.length == nil }

  /// The folder that the file is in.
  var folder: String { Self.folder(of: source.path) }

  /// Which file of the machine it is.
  struct Number: Hashable {
    let device: UInt64
    let inode: UInt64
  }

  /// Its number; meaningless when it is gone.
  var number: Number { Number(device: source.device, inode: source.inode) }

  /// Whether it is no longer there, or is something else now.
  var isGone: Bool { source.inode == 0 }

  /// Whether a file has its number.
  func isAt(_ status: FileStatus) -> Bool { number == Number(status) }

  /// Whether a file with its number is at its path.
  func isInPlace() throws -> Bool { try FileStatus(source.path).map(isAt) ?? false }

  /// Notes where it was found.
  mutating func place(at path: String, _ status: FileStatus) {
    source.path = path
    source.device = status.device
    source.inode = status.inode
  }

  /// Notes that it is gone.
  ///
  /// - Parameter time: nothing that changed later is what it was.
  mutating func lose(at time: Timestamp) {
    source.inode = 0
    changed = FileTime(time)
  }

  /// Whether a file at a path may be known by its head: a short one has too little content for that,
  /// unless it is where rotation puts it.
  func mayBe(at path: String) -> Bool {
    isNeighbour(path) || source.headLength == FileContent.headLength
  }

  /// Whether a path is in the file's folder and begins as rotation lets it.
  func isNeighbour(_ path: String) -> Bool {
    Self.folder(of: path) == folder
      && LogSource.stem(of: path).hasPrefix(LogSource.stem(of: source.path))
  }

  static func folder(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/"), slash != path.startIndex else { return "/" }
    return String(path[..<slash])
  }
}

/// A file's first bytes and the last ones before an offset: what tells it from others, whatever its
/// name and number are.
struct FileContent {
  private let file: OpenFile
  private let packed: CompressedFile?

  /// Opens a file, and what it was before it was compressed.
  ///
  /// - Parameter limit: how much it may become when it is unpacked.
  init(_ path: String, limit: UnpackLimit = UnpackLimit()) throws {
    file = try OpenFile(path)
    packed = CompressedFile.form(of: path).map { [file] in
      CompressedFile(file: file, form: $0, limit: limit)
    }
  }

  /// The file's status, also where it is compressed.
  func status() throws -> FileStatus { try file.status() }

  /// How many of the first bytes are looked at.
  static let headLength = Sidecar.Source.longestHead

  /// The first bytes, 4096 at most.
  func head() throws -> [UInt8] { try read(0..<Int64(Self.headLength)) }

  /// A range of the log's bytes, or what there is of it.
  func read(_ range: Range<Int64>) throws -> [UInt8] {
    if let packed { return try packed.read(range) }
    return try file.read(at: range.lowerBound, count: range.count)
  }

  /// Whether it begins as the file that is remembered did.
  func hasHead(of known: AttachedFile) throws -> Bool {
    known.source.isHead(try head())
  }

  /// Whether this is the file that is remembered, or has grown out of it.
  func continues(_ known: AttachedFile) throws -> Bool {
    guard try hasHead(of: known) else { return false }
    guard let link = known.link else { return true }
    return try self.link(before: known.seen) == link
  }

  /// Whether it has bytes from an offset on.
  func reaches(beyond offset: Int64) throws -> Bool {
    guard packed != nil else { return try status().length > offset }
    return try !read(offset..<offset + 1).isEmpty
  }

  /// The fingerprint of the bytes before an offset; nil where the file is shorter.
  func link(before offset: Int64) throws -> Link? {
    let start = max(0, offset - Int64(Link.span))
    let bytes = try read(start..<offset)
    return Int64(bytes.count) == offset - start ? Link(before: bytes[...]) : nil
  }

  /// The stream that begins at an offset of the file; nil for a compressed one.
  func log(from base: Int64) -> LocalStream? { packed == nil ? LocalStream(file, from: base) : nil }

  /// Writes what a compressed file was before into another, whole or not at all.
  ///
  /// - Parameters:
  ///   - target: the file to write.
  ///   - start: how many of the first bytes to leave out.
  /// - Returns: how many bytes were written.
  func unpack(to target: String, from start: Int64 = 0) throws -> ByteCount {
    guard let packed else { return 0 }
    var position: Int64 = 0
    var room = Room(AtomicFile.directory(of: target), for: target)
    try AtomicFile.write(to: target) { write in
      try packed.unpack { piece in
        try room.take(piece.count)
        let skipped = max(0, min(Int64(piece.count), start - position))
        position += Int64(piece.count)
        try write(UnsafeRawBufferPointer(rebasing: piece.dropFirst(Int(skipped))))
      }
    }
    return ByteCount(max(0, position - start))
  }
}

/// The room on the disk for what is unpacked; a lack of it is what any file that cannot be written has.
private struct Room {
  private let folder: String
  private let target: String
  private var watch: FreeSpace.Watch?

  init(_ folder: String, for target: String) { (self.folder, self.target) = (folder, target) }

  /// Counts bytes that are about to be written.
  ///
  /// - Throws: ``Platform/SystemError``.
  mutating func take(_ count: Int) throws {
    do {
      var watch = try watch ?? FreeSpace.system.watch(0, in: folder, for: target)
      try watch.take(count)
      self.watch = watch
    } catch is SpaceShortage {
      throw SystemError(operation: "write", path: target, errno: SystemError.Number.full)
    }
  }
}

extension AttachedFile.Number {
  init(_ status: FileStatus) { self.init(device: status.device, inode: status.inode) }
}

import Delta
import Platform
import Replica
import SessionLog

/// A file's first bytes and those before an offset, which identify it under any name or inode
/// number.
struct FileContent {
  private let file: OpenFile
  private let packed: CompressedFile?

  /// Opens a file, and determines the log that it was before compression.
  ///
  /// - Parameter limit: the largest unpacked size allowed.
  init(_ path: String, limit: UnpackLimit = UnpackLimit()) throws {
    file = try OpenFile(foreign: path)
    packed = CompressedFile.form(of: path).map { [file] in
      CompressedFile(file: file, form: $0, limit: limit)
    }
  }

  /// The file's status; for a compressed file, that of the compressed one.
  func status() throws -> FileStatus { try file.status() }

  /// Number of first bytes compared.
  static let headLength = Sidecar.Source.longestHead

  /// The first bytes, 4096 at most.
  func head() throws -> [UInt8] { try read(0..<Int64(Self.headLength)) }

  /// Reads a range of the log's bytes, cut at the end of the file.
  func read(_ range: Range<Int64>) throws -> [UInt8] {
    if let packed { return try packed.read(range) }
    return try file.read(at: range.lowerBound, count: range.count)
  }

  /// Whether it begins like the known file.
  func hasHead(of known: AttachedFile) throws -> Bool {
    known.source.isHead(try head())
  }

  /// Whether this is the known file, perhaps grown.
  ///
  /// An empty file's content matches any file, so only its number identifies it. A compressed file of
  /// which only the head is known must also have the same length, because the next day's log may begin
  /// with the same head. A file of another user is another file.
  func continues(_ known: AttachedFile) throws -> Bool {
    guard try known.mayBelong(to: status()) else { return false }
    guard known.source.headLength > 0 else {
      return try known.isAt(status()) && (!known.isCompressed || hasLength(0))
    }
    guard try hasHead(of: known) else { return false }
    guard let link = known.link else { return try !known.isCompressed || hasLength(known.seen) }
    return try self.link(before: known.seen) == link
  }

  /// Whether it has bytes up to an offset, and none beyond.
  func hasLength(_ length: Int64) throws -> Bool {
    try !reaches(beyond: length) && (length == 0 || reaches(beyond: length - 1))
  }

  /// Whether another file begins with what this one has so far, judged by its first and last bytes.
  ///
  /// Of a compressed file that is not complete yet, what can be unpacked counts; any log begins with an
  /// empty one.
  func isBeginning(of other: FileContent) throws -> Bool {
    guard packed != nil else {
      let length = try status().length
      guard length > 0, let link = try link(before: length), try other.link(before: length) == link
      else { return false }
      return try other.head().starts(with: head().prefix(Int(clamping: length)))
    }
    let end = try other.status().length
    let (head, last, length) = try unpackedEnds(atMost: end)
    guard try length <= end && other.head().starts(with: head) else { return false }
    return try other.read(length - Int64(last.count)..<length) == last
  }

  /// The first and the last bytes of a compressed log, and its length; more than a limit if it is longer.
  ///
  /// - Throws: ``Platform/SystemError`` if nothing can be unpacked.
  private func unpackedEnds(
    atMost limit: Int64
  ) throws -> (head: [UInt8], last: [UInt8], length: Int64) {
    struct IsLonger: Error {}
    var (head, last): ([UInt8], [UInt8]) = ([], [])
    var length: Int64 = 0
    do {
      try packed?.unpack { piece in
        head += piece.prefix(Self.headLength - head.count)
        last = (last + piece.suffix(Link.span)).suffix(Link.span)
        length += Int64(piece.count)
        if length > limit { throw IsLonger() }
      }
    } catch is IsLonger {
    } catch let error as SystemError where error.errno == SystemError.Number.malformed {
      guard length > 0 else { throw error }
    }
    return (head, last, length)
  }

  /// Whether it has bytes beyond an offset.
  func reaches(beyond offset: Int64) throws -> Bool {
    guard packed != nil else { return try status().length > offset }
    return try !read(offset..<offset + 1).isEmpty
  }

  /// The fingerprint of the bytes before an offset; nil if the file is shorter.
  func link(before offset: Int64) throws -> Link? {
    let start = max(0, offset - Int64(Link.span))
    let bytes = try read(start..<offset)
    return Int64(bytes.count) == offset - start ? Link(before: bytes[...]) : nil
  }

  /// The stream that begins at an offset of the file; nil for a compressed file.
  func log(from base: Int64) -> LocalStream? { packed == nil ? LocalStream(file, from: base) : nil }

  /// The stream that begins at an offset of a compressed file, unpacked to a temporary file; nil for
  /// a plain one.
  ///
  /// - Parameter path: the temporary file, which is removed at once.
  func unpackedLog(from base: Int64, at path: String) throws -> LocalStream? {
    guard packed != nil else { return nil }
    _ = try unpack(to: path, isDurable: false)
    let file = try OpenFile(path)
    try File.remove(path)
    return LocalStream(file, from: base)
  }

  /// The file's path.
  var path: String { file.path }

  /// Unpacks a compressed file into another, completely or not at all.
  ///
  /// - Parameters:
  ///   - target: the file to write.
  ///   - start: number of first bytes to omit.
  /// - Returns: the number of bytes written.
  func unpack(
    to target: String, from start: Int64 = 0, isDurable: Bool = true
  ) throws -> ByteCount {
    guard let packed else { return 0 }
    var position: Int64 = 0
    var room = UnpackSpace(AtomicFile.directory(of: target), for: target)
    try AtomicFile.write(to: target, isDurable: isDurable) { write in
      try packed.unpack { piece in
        try room.count(piece.count)
        let skipped = max(0, min(Int64(piece.count), start - position))
        position += Int64(piece.count)
        try write(UnsafeRawBufferPointer(rebasing: piece.dropFirst(Int(skipped))))
      }
    }
    return ByteCount(max(0, position - start))
  }
}

/// Free disk space for unpacking; running out is reported like any other failed write.
private struct UnpackSpace {
  private let folder: String
  private let target: String
  private var watch: FreeSpace.Watch?

  init(_ folder: String, for target: String) { (self.folder, self.target) = (folder, target) }

  /// Counts bytes to be written.
  ///
  /// - Throws: ``Platform/SystemError``.
  mutating func count(_ count: Int) throws {
    do {
      var watch = try watch ?? FreeSpace.system.watch(0, in: folder, for: target)
      try watch.count(count)
      self.watch = watch
    } catch is SpaceShortage {
      throw SystemError(operation: "write", path: target, errno: SystemError.Number.full)
    }
  }
}

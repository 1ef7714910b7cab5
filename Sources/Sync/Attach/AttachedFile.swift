import Crypto
import Delta
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
  /// When the file had last changed then, in nanoseconds since 1970.
  var changed: Int64
  /// Whether it was found renamed, so that it ends as soon as it has stopped growing.
  var isRotated = false
  /// Whether what is there is the compressed form of what was read.
  var isCompressed = false
  /// When the session ends unless the file grows, in milliseconds since 1970.
  var idleAt: Int64

  var isOpen: Bool { source.length == nil }

  /// The folder that the file is in.
  var folder: String { Self.folder(of: source.path) }

  static func folder(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/"), slash != path.startIndex else { return "/" }
    return String(path[..<slash])
  }
}

/// A file's first bytes and the last ones before an offset: what tells it from others, whatever its
/// name and number are.
///
/// Opened for each question: as many may be held as there are files.
struct FileContent {
  let path: String

  /// The file as it is, or what it was before it was compressed.
  private enum Form {
    case plain(OpenFile)
    case packed(CompressedFile)
  }

  private func open() throws -> Form {
    let file = try OpenFile(path)
    guard let form = CompressedFile.form(of: path) else { return .plain(file) }
    return .packed(CompressedFile(file: file, form: form))
  }

  /// How many of the first bytes are looked at.
  static let headLength = 4096

  /// The first bytes, 4096 at most.
  func head() throws -> [UInt8] { try read(0..<Int64(Self.headLength)) }

  /// A range of the log's bytes, or what there is of it.
  func read(_ range: Range<Int64>) throws -> [UInt8] {
    switch try open() {
    case .plain(let file): try file.read(at: range.lowerBound, count: range.count)
    case .packed(let file): try file.read(range)
    }
  }

  /// Whether this is the file that is remembered, or has grown out of it.
  func continues(_ known: AttachedFile) throws -> Bool {
    let head = try head()
    guard head.count >= known.source.headLength,
      Self.hash(head.prefix(known.source.headLength)) == known.source.headHash
    else { return false }
    guard let link = known.link else { return true }
    return try self.link(before: known.seen) == link
  }

  /// The fingerprint of the bytes before an offset; nil where the file is shorter.
  func link(before offset: Int64) throws -> Link? {
    let start = max(0, offset - Int64(Link.span))
    let bytes = try read(start..<offset)
    return Int64(bytes.count) == offset - start ? Link(before: bytes[...]) : nil
  }

  /// Whether the file has the bytes that a segment's name promises.
  func matches(_ segment: SegmentName) throws -> Bool {
    guard case .plain(let file) = try open() else { return false }
    var hasher = SHA256()
    var offset = segment.range.lowerBound
    while offset < segment.range.upperBound {
      let count = min(1 << 20, segment.range.upperBound - offset)
      let bytes = try file.read(at: offset, count: Int(count))
      guard !bytes.isEmpty else { return false }
      bytes.withUnsafeBytes { hasher.update(bufferPointer: $0) }
      offset += Int64(bytes.count)
    }
    return StreamDigest.hex(hasher.finalize()).hasPrefix(segment.hash)
  }

  static func hash(_ bytes: some Sequence<UInt8>) -> String {
    StreamDigest.hex(Array(SHA256.hash(data: Array(bytes)).prefix(16)))
  }
}

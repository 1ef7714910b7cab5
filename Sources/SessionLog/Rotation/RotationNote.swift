package import Platform

/// The note of a session's last rotation, written before the live log becomes the newest part.
///
/// It shows where the live log begins even if that part is gone or cannot be read: at the part's end,
/// or at its start if the process died before the rotation. The log's content decides which, because
/// a copied home has other inodes and times.
struct RotationNote: Equatable {
  /// Stream offset of the part's first byte.
  let start: StreamOffset
  /// The part's end.
  let end: StreamOffset
  /// Hash of the part's last bytes, at most ``longestEnding``; nil in notes of versions that wrote none,
  /// and no hash if the bytes were gone when the note was made again.
  let ending: String?

  /// Maximum number of a part's last bytes that are hashed.
  private static let longestEnding: Int64 = 4096

  /// A file of so many bytes is no note.
  static let readLimit = 64

  /// Describes a part.
  ///
  /// - Parameter bytes: what it has in ``ending(of:)``; nil if that could not be read.
  init(of part: LogPart, length: Int64, ending bytes: [UInt8]?) {
    (start, end) = (part.start, part.start + ByteCount(length))
    ending = bytes.map(Self.hash)
  }

  /// Describes what is gone before the live log, so that no log begins with it.
  init(lost range: Range<StreamOffset>) {
    (start, end, ending) = (range.lowerBound, range.upperBound, "lost")
  }

  /// Position and number of the bytes of a part that are hashed.
  static func ending(of length: Int64) -> (position: Int64, count: Int) {
    let count = min(length, longestEnding)
    return (length - count, Int(count))
  }

  /// Parses a note; nil for anything else, such as an empty one, or one that a power failure has cut.
  init?(_ text: [UInt8]) {
    guard text.count < Self.readLimit, text.last == 0x0a else { return nil }
    let fields = text.split { $0 == 0x20 || $0 == 0x0a }
    guard fields.count == 2 || fields.count == 3, let start = Self.offset(fields[0]),
      let end = Self.offset(fields[1]), start < end
    else { return nil }
    (self.start, self.end) = (start, end)
    ending = fields.count == 3 ? String(decoding: fields[2], as: UTF8.self) : nil
  }

  private static func offset(_ field: ArraySlice<UInt8>) -> StreamOffset? {
    guard field.count <= 15, field.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    return Int64(String(decoding: field, as: UTF8.self)).map { StreamOffset($0) }
  }

  /// Its text, one line.
  var text: [UInt8] { Array("\(start) \(end)\(ending.map { " \($0)" } ?? "")\n".utf8) }

  /// FNV-1a in 64 bits, as 16 letters from `a` to `p`: earlier versions skip what is not a digit.
  private static func hash(of bytes: [UInt8]) -> String {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    let letters = (0..<16).map {
      UInt8(0x61) + UInt8(truncatingIfNeeded: hash >> (60 - 4 * $0) & 15)
    }
    return String(decoding: letters, as: UTF8.self)
  }

  /// Whether a log begins with the noted part, so that it was not rotated; nil if that is unknown.
  ///
  /// - Throws: ``Platform/SystemError``.
  func isBeginning(of log: OpenFile) throws -> Bool? {
    let length = (end - start).bytes
    guard try log.status().length >= length else { return false }
    guard let ending else { return nil }
    let (position, count) = Self.ending(of: length)
    return Self.hash(of: try log.read(at: position, count: count)) == ending
  }
}

extension SessionFiles {
  /// The note of the last rotation; nil if there is none.
  var rotationNote: RotationNote? {
    (try? OpenFile(rotated).read(at: 0, count: RotationNote.readLimit)).flatMap(RotationNote.init)
  }

  /// The offset up to which the log is known to have been rotated; nil if none is noted.
  package var notedEnd: StreamOffset? { rotationNote?.end }

  /// Whether the last rotation noted that a part is longer than so many bytes.
  package func isCut(_ part: LogPart, at length: ByteCount) -> Bool {
    rotationNote.map { $0.start == part.start && $0.end > part.start + length } ?? false
  }

  /// Writes the note before a rotation.
  ///
  /// A rotation goes on without it: it is needed only once the part is gone, or cannot be read.
  func write(_ note: RotationNote) {
    try? AtomicFile.write(note.text, to: rotated, isDurable: false)
  }
}

import Crypto
import Delta
import ObjectStore
package import Platform
package import SessionLog

/// `<session>.g1.000000000000-000004194304.<hash16>.<stored>.log.zst`: an immutable segment, whose
/// name gives its stream bytes and how to verify them.
package struct SegmentName: Sendable, Hashable, CustomStringConvertible {
  /// The largest object that a writer makes; a name that states more is foreign.
  package static let largestObject: ByteCount = 8 << 20

  /// The largest offset that names have digits for, where every stream ends at the latest.
  package static let highestOffset = StreamOffset(DeltaInstructions.highestOffset)

  /// How a segment stores its bytes.
  package enum Kind: String, Sendable, CaseIterable {
    /// All in its own frames: `.log.zst`.
    case plain = "log"
    /// Mostly as copies from earlier generations: `.delta.zst`.
    case delta
  }

  /// The session.
  package let session: SessionID
  /// The generation of the stream, from 1.
  package let generation: Int
  /// Stream offsets.
  package let range: Range<StreamOffset>
  /// First 16 hex digits of SHA-256 over the stream bytes.
  package let hash: String
  /// The object's size; an object of another size does not count.
  package let stored: ByteCount
  /// How it stores its bytes; a delta has a generation above 1.
  package let kind: Kind

  /// Makes a name.
  package init(
    session: SessionID, generation: Int, range: Range<StreamOffset>, hash: String,
    stored: ByteCount,
    kind: Kind = .plain
  ) {
    self.session = session
    self.generation = generation
    self.range = range
    self.hash = hash
    self.stored = stored
    self.kind = kind
  }

  /// Whether it contains another segment's bytes, by both names.
  package func holds(_ other: SegmentName) -> Bool {
    generation == other.generation && range.lowerBound <= other.range.lowerBound
      && other.range.upperBound <= range.upperBound
  }

  /// Number of stream bytes.
  package var length: ByteCount { range.byteCount }

  /// The file name.
  package var description: String { fileName }

  /// Reads a file name; nil for anything that ``fileName`` does not write.
  package init?(_ fileName: String) { self.init(fileName, of: nil) }

  /// The same, where the session that the name begins with may be known.
  init?(_ fileName: String, of known: SessionID?) {
    let parts = NameField.parts(of: fileName)
    guard parts.count == 7, let kind = Kind(rawValue: String(parts[5])), parts[6] == "zst",
      let session = known ?? SessionID(String(parts[0])),
      let generation = NameField.generation(parts[1]), kind == .plain || generation > 1,
      let hash = NameField.hash(parts[3]), let stored = NameField.size(parts[4]),
      stored <= Self.largestObject
    else { return nil }
    let bounds = parts[2].split(separator: "-", omittingEmptySubsequences: false)
    guard bounds.count == 2, let start = NameField.offset(bounds[0]),
      let end = NameField.offset(bounds[1]), start < end
    else { return nil }
    self.init(
      session: session, generation: generation, range: start..<end, hash: hash, stored: stored,
      kind: kind)
    guard self.fileName == fileName else { return nil }
  }

  /// The name inside its ``SessionFolder``.
  package var fileName: String {
    let start = NameField.padded(range.lowerBound)
    let end = NameField.padded(range.upperBound)
    return "\(session).g\(generation).\(start)-\(end).\(hash).\(stored).\(kind.rawValue).zst"
  }
}

/// `<session>.s0003.terminated.000004194304.<hash16>.<stored>.json`: an immutable revision of a
/// session's sidecar.
///
/// A generation other than the first is named before the length:
/// `<session>.s0003.active.g2.000004194304.<hash16>.<stored>.json`.
package struct RevisionName: Sendable, Hashable, CustomStringConvertible {
  /// The highest revision number.
  package static let highestNumber = 999_999
  /// The largest sidecar that a writer makes; a name that states more is foreign.
  package static let largestObject: ByteCount = 1 << 20

  /// The session.
  package let session: SessionID
  /// Its number, from 1.
  package let number: Int
  /// The session's status; anything but active marks the seal.
  package let status: SessionStatus
  /// The generation of the stream that counts from this revision on.
  package let generation: Int
  /// Length of the stream at that time.
  package let length: StreamOffset
  /// First 16 hex digits of SHA-256 over the JSON.
  package let hash: String
  /// The object's size.
  package let stored: ByteCount

  /// The name of a revision with this content.
  package init(
    session: SessionID, number: Int, status: SessionStatus, generation: Int = 1,
    length: StreamOffset, json: [UInt8]
  ) {
    self.session = session
    self.number = number
    self.status = status
    self.generation = generation
    self.length = length
    self.hash = NameField.hash16(SHA256.hash(data: json))
    self.stored = ByteCount(json.count)
  }

  /// Whether a sidecar matches this name.
  package func matches(_ json: [UInt8]) -> Bool {
    ByteCount(json.count) == stored && NameField.hash16(SHA256.hash(data: json)) == hash
  }

  /// The file name.
  package var description: String { fileName }

  /// Reads a file name; nil for anything that ``fileName`` does not write.
  package init?(_ fileName: String) { self.init(fileName, of: nil) }

  /// The same, where the session that the name begins with may be known.
  init?(_ fileName: String, of known: SessionID?) {
    var parts = NameField.parts(of: fileName)
    var generation = 1
    if parts.count == 8, let named = NameField.generation(parts[3]), named > 1 {
      generation = named
      parts.remove(at: 3)
    }
    guard parts.count == 7, parts[6] == "json", let session = known ?? SessionID(String(parts[0])),
      parts[1].first == "s", let number = NameField.number(parts[1].dropFirst()),
      number <= Self.highestNumber, let status = SessionStatus(rawValue: parts[2].uppercased()),
      let length = NameField.offset(parts[3]), let hash = NameField.hash(parts[4]),
      let stored = NameField.size(parts[5]), stored <= Self.largestObject
    else { return nil }
    self.session = session
    self.number = Int(number)
    self.status = status
    self.generation = generation
    self.length = length
    self.hash = hash
    self.stored = stored
    guard self.fileName == fileName else { return nil }
  }

  /// The name inside its ``SessionFolder``.
  package var fileName: String {
    let revision = String(number)
    let padding = String(repeating: "0", count: max(0, 4 - revision.count))
    let version = generation == 1 ? "" : "g\(generation)."
    let length = NameField.padded(length)
    return
      "\(session).s\(padding)\(revision).\(status.rawValue.lowercased()).\(version)\(length)."
      + "\(hash).\(stored).json"
  }
}

/// The fields of names.
enum NameField {
  /// 12 digits, so that names sort in the order of bytes.
  static let offsetDigits = 12

  /// What stands between dots, which are ASCII in each name that counts.
  static func parts(of fileName: String) -> [Substring] {
    fileName.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
      .map { Substring($0) }
  }

  static func padded(_ offset: StreamOffset) -> String {
    let digits = offset.description
    return String(repeating: "0", count: max(0, offsetDigits - digits.count)) + digits
  }

  static func offset(_ text: Substring) -> StreamOffset? {
    text.utf8.count == offsetDigits ? number(text).map { StreamOffset($0) } : nil
  }

  static func size(_ text: Substring) -> ByteCount? { number(text).map { ByteCount($0) } }

  static func number(_ text: Substring) -> Int64? {
    guard (1...18).contains(text.utf8.count),
      text.utf8.allSatisfy({ (0x30...0x39).contains($0) })
    else { return nil }
    return Int64(text)
  }

  /// `g1` and up.
  static func generation(_ text: Substring) -> Int? {
    guard text.first == "g", let number = number(text.dropFirst()), number > 0,
      number <= DeltaInstructions.highestGeneration
    else { return nil }
    return Int(number)
  }

  static func hash(_ text: Substring) -> String? {
    guard text.utf8.count == 16,
      text.utf8.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x66).contains($0) })
    else { return nil }
    return String(text)
  }

  static func hash16(_ digest: some Sequence<UInt8>) -> String { Hex.text(digest.prefix(8)) }
}

import Delta
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
    NameField.join(session) { name in
      name += ".g".utf8
      NameField.append(Int64(generation), to: &name)
      name += ".".utf8
      NameField.append(range.lowerBound, to: &name)
      name += "-".utf8
      NameField.append(range.upperBound, to: &name)
      NameField.append(hash: hash, stored: stored, to: &name)
      name += ".".utf8
      name += kind.rawValue.utf8
      name += ".zst".utf8
    }
  }
}

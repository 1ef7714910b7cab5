import Crypto

/// The index at the end of a segment: a zstd skippable frame, which plain `zstd -d` ignores.
///
/// Layout (all fixed-width integers little-endian, others LEB128), as the format document of
/// `Replica` describes:
///
///     u32 0x184D2A5E   u32 length of what follows
///     sections: tag, length, bytes …   unknown tags are skipped
///     footer, 16 bytes: u32 length of this whole skippable frame, u32 checksum (first 4 bytes of
///     SHA-256 over the sections), u16 version, u16 zero, "TDMK"
package struct SegmentIndex: Sendable, Equatable {
  /// The version this code writes and reads.
  package static let version = 1
  /// Bytes of the footer that ends every segment.
  package static let footerLength = 16
  /// Longest index in bytes, so that a hostile one costs its reader little memory.
  package static let maximumLength = 1 << 20

  /// The frames in stream order.
  package var frames: [FrameSummary]
  /// Fingerprint of the stream before the segment.
  package var link: Link
  /// The instructions that produce the stream bytes of a delta segment, whose frames hold the
  /// literals; nil for a plain one.
  package var delta: DeltaInstructions?
  /// Bytes of a section that readers skip, which gives the same content another object size, and so
  /// another name; 0 for none.
  package var padding = 0

  /// Makes an index.
  package init(frames: [FrameSummary], link: Link, delta: DeltaInstructions? = nil) {
    self.frames = frames
    self.link = link
    self.delta = delta
  }

  private enum Tag: UInt64 {
    case link = 1
    case frames = 2
    case delta = 3
    case scenarios = 5
    case hashes = 7
    case padding = 127
  }

  /// Maximum number of frames in a segment, twice as many as the most repetitive log makes: some
  /// 200 bytes for each 2 MiB, in an object of 3.5 MiB.
  package static let mostFrames = 1 << 15

  /// Log bytes in all frames.
  package var rawLength: Int { frames.reduce(0) { $0 + $1.rawLength } }

  /// The instructions that produce the segment's stream bytes; for a plain segment, one literal.
  package var instructions: DeltaInstructions {
    if let delta { return delta }
    var plain = DeltaInstructions()
    plain.append(.literal(Int64(rawLength)))
    return plain
  }

  /// Whether frames have hashes of their own: the only frame of a plain segment is compared with the
  /// hash in the segment's name.
  private var hasHashes: Bool { delta != nil && !frames.isEmpty || frames.count > 1 }

  /// The skippable frame to append after the segment's frames.
  package func encoded() -> [UInt8] {
    var sections: [UInt8] = []
    Self.append(.link, link.encoded, to: &sections)
    var summaries: [UInt8] = []
    for frame in frames { frame.append(to: &summaries) }
    Self.append(.frames, summaries, to: &sections)
    if let delta { Self.append(.delta, delta.encoded(), to: &sections) }
    let hashes = frames.compactMap(\.hash)
    if hasHashes, hashes.count == frames.count {
      Self.append(.hashes, hashes.flatMap(\.encoded), to: &sections)
    }
    // With very many frames there is no room for it; readers work without it.
    if let scenarios = FrameScenarios.encoded(frames),
      sections.count + scenarios.count < Self.maximumLength / 2
    {
      Self.append(.scenarios, scenarios, to: &sections)
    }
    if padding > 0 {
      Self.append(.padding, [UInt8](repeating: 0, count: padding), to: &sections)
    }

    let payloadLength = sections.count + Self.footerLength
    var out: [UInt8] = []
    out.reserveCapacity(payloadLength + 8)
    out.append(littleEndian: Self.skippableMagic)
    out.append(littleEndian: UInt32(payloadLength))
    out += sections
    out.append(littleEndian: UInt32(payloadLength + 8))
    out += Self.checksum(sections[...])
    out.append(littleEndian: UInt16(Self.version))
    out.append(littleEndian: UInt16(0))
    out += Self.magic
    return out
  }

  /// The length in bytes of the index at the end of a segment.
  ///
  /// - Parameter segment: at least the last ``footerLength`` + 8 bytes of the object.
  /// - Throws: ``SegmentError`` if there is no footer, or one of another version.
  package static func length(endOf segment: ArraySlice<UInt8>) throws(SegmentError) -> Int {
    guard segment.count >= footerLength + 8 else {
      throw SegmentError(.truncated, "\(segment.count) bytes are too few for a segment")
    }
    let footer = segment.suffix(footerLength)
    guard footer.suffix(4).elementsEqual(magic) else {
      throw SegmentError(.truncated, "the segment does not end with an index footer")
    }
    let version = Int(footer.littleEndian16(at: 8))
    guard version == Self.version else {
      throw SegmentError(
        .unsupportedVersion(version),
        "the segment index has version \(version), not \(Self.version)")
    }
    let length = Int(footer.littleEndian32(at: 0))
    guard length >= footerLength + 8, length <= maximumLength else {
      throw SegmentError(.corrupt, "the segment's footer claims an index of \(length) bytes")
    }
    return length
  }

  /// The hash by which a seal names the index of a segment: over the whole skippable frame.
  ///
  /// - Parameter segment: all bytes of the object, or at least its end.
  /// - Throws: ``SegmentError`` if there is no index.
  package static func hash(endOf segment: ArraySlice<UInt8>) throws(SegmentError) -> ContentHash {
    ContentHash(of: segment.suffix(try length(endOf: segment)))
  }

  /// Reads the index of a whole segment.
  ///
  /// - Parameter segment: all bytes of the object, or at least its end.
  /// - Returns: the index and its length in bytes, skippable header included.
  /// - Throws: ``SegmentError`` for anything that ``encoded()`` does not write, except unknown
  ///   sections.
  package static func decode(
    endOf segment: ArraySlice<UInt8>
  ) throws(SegmentError) -> (index: SegmentIndex, length: Int) {
    let length = try length(endOf: segment)
    guard length <= segment.count else {
      throw SegmentError(.corrupt, "the segment's footer claims an index of \(length) bytes")
    }
    let footer = segment.suffix(footerLength)
    let frame = segment.suffix(length)
    guard frame.littleEndian32(at: 0) == skippableMagic,
      Int(frame.littleEndian32(at: 4)) == length - 8
    else { throw SegmentError(.corrupt, "the segment's footer points at no index") }
    let sections = frame.dropFirst(8).dropLast(footerLength)
    guard checksum(sections).elementsEqual(footer.dropFirst(4).prefix(4)) else {
      throw SegmentError(.corrupt, "the segment index does not match its checksum")
    }
    return (try decode(sections: sections), length)
  }

  private static func decode(sections: ArraySlice<UInt8>) throws(SegmentError) -> SegmentIndex {
    var reader = ByteReader(sections)
    var link: Link?
    var frames: [FrameSummary]?
    var delta: DeltaInstructions?
    var scenarios: ArraySlice<UInt8>?
    var hashes: ArraySlice<UInt8>?
    while !reader.isAtEnd {
      let tag = try reader.varint()
      let body = try reader.bytes(try reader.count())
      switch Tag(rawValue: tag) {
      case .link: link = try Link(encoded: body)
      case .frames:
        var summaries = ByteReader(body)
        var decoded: [FrameSummary] = []
        while !summaries.isAtEnd {
          guard decoded.count < Self.mostFrames else {
            throw SegmentError(.corrupt, "the segment index names too many frames")
          }
          decoded.append(try FrameSummary(from: &summaries))
        }
        frames = decoded
      case .delta: delta = try DeltaInstructions(encoded: body)
      case .scenarios: scenarios = body
      case .hashes: hashes = body
      case .padding, nil: continue
      }
    }
    guard let link, var frames else {
      throw SegmentError(.corrupt, "the segment index lacks a section")
    }
    if let scenarios { try FrameScenarios.decode(scenarios, into: &frames) }
    if let hashes {
      guard hashes.count == frames.count * ContentHash.length else {
        throw SegmentError(.corrupt, "the segment index does not name one hash for each frame")
      }
      for number in frames.indices {
        frames[number].hash = ContentHash(
          encoded: hashes.dropFirst(number * ContentHash.length).prefix(ContentHash.length))
      }
    }
    return SegmentIndex(frames: frames, link: link, delta: delta)
  }

  private static let skippableMagic: UInt32 = 0x184D_2A5E
  private static let magic = Array("TDMK".utf8)

  private static func checksum(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    Array(SHA256.hash(data: bytes))[..<4]
  }

  private static func append(_ tag: Tag, _ body: [UInt8], to sections: inout [UInt8]) {
    Varint.append(tag.rawValue, to: &sections)
    Varint.append(UInt64(body.count), to: &sections)
    sections += body
  }
}

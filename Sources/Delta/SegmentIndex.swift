import Crypto

/// What one frame of a segment holds, so that a reader can choose frames without fetching them.
public struct FrameSummary: Sendable, Equatable {
  /// How many levels a frame counts; their order is the format's, lowest level first.
  public static let levelCount = 7

  /// Length of the compressed frame in bytes.
  public var storedLength: Int
  /// Length of the log bytes in it.
  public var rawLength: Int
  /// Number of newlines in it.
  public var lines: Int
  /// Time of the earliest and latest record in it, milliseconds since 1970 UTC; nil where no
  /// record has a time.
  public var times: ClosedRange<Int64>?
  /// Records by level, `levelCount` entries.
  public var levels: [Int]

  /// Makes a summary.
  public init(
    storedLength: Int, rawLength: Int, lines: Int, times: ClosedRange<Int64>?, levels: [Int]
  ) {
    self.storedLength = storedLength
    self.rawLength = rawLength
    self.lines = lines
    self.times = times
    self.levels = levels
  }
}

/// The index at the end of a segment: a zstd skippable frame that plain `zstd -d` passes over.
///
/// Layout (all fixed-width integers little-endian, others LEB128), as the format document of
/// `Replica` describes:
///
///     u32 0x184D2A5E   u32 length of what follows
///     sections: tag, length, bytes …   unknown tags are skipped
///     footer, 16 bytes: u32 length of this whole skippable frame, u32 checksum (first 4 bytes of
///     SHA-256 over the sections), u16 version, u16 zero, "TDMK"
public struct SegmentIndex: Sendable, Equatable {
  /// The version this code writes and reads.
  public static let version = 1
  /// Bytes of the footer that ends every segment.
  public static let footerLength = 16

  /// The frames in stream order.
  public var frames: [FrameSummary]
  /// What stands before the segment in the stream.
  public var link: Link

  /// Makes an index.
  public init(frames: [FrameSummary], link: Link) {
    self.frames = frames
    self.link = link
  }

  private enum Tag: UInt64 {
    case link = 1
    case frames = 2
  }

  /// Log bytes in all frames.
  public var rawLength: Int { frames.reduce(0) { $0 + $1.rawLength } }

  /// The skippable frame to append after the segment's frames.
  public func encoded() -> [UInt8] {
    var sections: [UInt8] = []
    Self.append(.link, link.encoded, to: &sections)
    Self.append(.frames, encodedFrames(), to: &sections)

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

  /// Reads the index of a whole segment.
  ///
  /// - Parameter segment: all bytes of the object, or at least its end.
  /// - Returns: the index and its length in bytes, skippable header included.
  /// - Throws: ``SegmentError`` for anything that is not exactly what ``encoded()`` writes, unknown
  ///   sections apart.
  public static func decode(
    endOf segment: ArraySlice<UInt8>
  ) throws(SegmentError) -> (index: SegmentIndex, length: Int) {
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
    guard length >= footerLength + 8, length <= segment.count else {
      throw SegmentError(.corrupt, "the segment's footer points outside of it")
    }
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
    while !reader.isAtEnd {
      let tag = try reader.varint()
      let body = try reader.bytes(try reader.count())
      switch Tag(rawValue: tag) {
      case .link: link = try Link(encoded: body)
      case .frames: frames = try decode(frames: body)
      case nil: continue
      }
    }
    guard let link, let frames else {
      throw SegmentError(.corrupt, "the segment index lacks a section")
    }
    return SegmentIndex(frames: frames, link: link)
  }

  private func encodedFrames() -> [UInt8] {
    var out: [UInt8] = []
    for frame in frames {
      Varint.append(UInt64(frame.storedLength), to: &out)
      Varint.append(UInt64(frame.rawLength), to: &out)
      Varint.append(UInt64(frame.lines), to: &out)
      var present: UInt8 = frame.times == nil ? 0 : 0x80
      for (level, count) in frame.levels.enumerated() where count > 0 { present |= 1 << level }
      out.append(present)
      if let times = frame.times {
        Varint.append(UInt64(bitPattern: times.lowerBound), to: &out)
        Varint.append(UInt64(times.upperBound - times.lowerBound), to: &out)
      }
      for count in frame.levels where count > 0 { Varint.append(UInt64(count), to: &out) }
    }
    return out
  }

  private static func decode(frames body: ArraySlice<UInt8>) throws(SegmentError) -> [FrameSummary]
  {
    var reader = ByteReader(body)
    var frames: [FrameSummary] = []
    while !reader.isAtEnd {
      let stored = try reader.count()
      let raw = try reader.count()
      let lines = try reader.count()
      let present = try reader.byte()
      var times: ClosedRange<Int64>?
      if present & 0x80 != 0 {
        let first = Int64(bitPattern: try reader.varint())
        let (last, overflow) = first.addingReportingOverflow(Int64(try reader.count()))
        guard !overflow else { throw SegmentError(.corrupt, "a frame's times are out of range") }
        times = first...last
      }
      var levels = [Int](repeating: 0, count: FrameSummary.levelCount)
      for level in levels.indices where present & (1 << UInt8(level)) != 0 {
        levels[level] = try reader.count()
      }
      frames.append(
        FrameSummary(
          storedLength: stored, rawLength: raw, lines: lines, times: times, levels: levels))
    }
    return frames
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

extension [UInt8] {
  fileprivate mutating func append(littleEndian value: some FixedWidthInteger) {
    for shift in stride(from: 0, to: value.bitWidth, by: 8) {
      append(UInt8(truncatingIfNeeded: value >> shift))
    }
  }
}

extension ArraySlice<UInt8> {
  fileprivate func littleEndian16(at offset: Int) -> UInt16 {
    UInt16(self[startIndex + offset]) | UInt16(self[startIndex + offset + 1]) << 8
  }

  fileprivate func littleEndian32(at offset: Int) -> UInt32 {
    UInt32(littleEndian16(at: offset)) | UInt32(littleEndian16(at: offset + 2)) << 16
  }
}

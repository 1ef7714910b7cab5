/// Reads a segment, plain or delta, trusting nothing in it.
///
/// Its stream bytes are what the ``SegmentIndex/instructions`` of its ``index`` make: literals stand
/// in the segment and are read with ``read(_:_:)``; copies stand in segments of an earlier
/// generation and are read from these in the same way. A plain segment is one literal.
///
/// Whatever is wrong with lengths, index or frames is an error. That a copy finds the bytes it was
/// made from, only the hash in the segment's name tells.
public struct SegmentReader {
  private struct Extent {
    let range: Range<Int64>
    /// Where the range begins in what it is stored in.
    let position: Int64
  }

  /// The segment's index.
  public let index: SegmentIndex

  private let segment: [UInt8]
  private let decoder: SegmentDecoder
  /// Offsets in the stream, to positions in all literals together.
  private let literals: [Extent]
  /// Offsets in all literals together, to positions in the object.
  private let frames: [Extent]
  /// The frame that was read last.
  private var open: (number: Int, bytes: [UInt8])?

  /// Opens a segment; no frame is decompressed yet.
  ///
  /// - Parameters:
  ///   - segment: all bytes of the object.
  ///   - generation: the generation of which it is; copies are from earlier ones.
  ///   - length: the number of stream bytes that its name promises.
  ///   - decoder: decompresses its frames; may serve other readers too, one at a time.
  /// - Throws: ``SegmentError`` when the index is damaged or does not fit the rest.
  public init(
    _ segment: [UInt8], generation: Int, length: Int64, decoder: SegmentDecoder
  ) throws(SegmentError) {
    let (index, indexLength) = try SegmentIndex.decode(endOf: segment[...])
    let instructions = index.instructions
    var stored: Int64 = 0
    var raw: Int64 = 0
    frames = index.frames.map { frame in
      let range = raw..<raw + Int64(frame.rawLength)
      defer { (stored, raw) = (stored + Int64(frame.storedLength), range.upperBound) }
      return Extent(range: range, position: stored)
    }
    guard instructions.length == length, instructions.literalLength == raw,
      stored == Int64(segment.count - indexLength)
    else { throw SegmentError(.corrupt, "the segment's frames do not add up to what it promises") }

    var offset: Int64 = 0
    var literal: Int64 = 0
    var literals: [Extent] = []
    for instruction in instructions.list {
      switch instruction {
      case .literal(let count):
        literals.append(Extent(range: offset..<offset + count, position: literal))
        literal += count
      case .copy(let source):
        guard source.generation < generation else {
          throw SegmentError(
            .corrupt,
            "a segment of generation \(generation) copies from generation \(source.generation)")
        }
      }
      offset += instruction.length
    }
    self.literals = literals
    self.index = index
    self.segment = segment
    self.decoder = decoder
  }

  /// Reads stream bytes that stand in the segment itself.
  ///
  /// Each frame is decompressed once when parts are read in order.
  ///
  /// - Parameters:
  ///   - part: offsets from the segment's start, in bytes.
  ///   - body: gets the bytes in order, at most ``SegmentEncoder/frameLength`` at a time.
  /// - Throws: ``SegmentError`` for damage, and when a byte of the part is a copy or beyond the
  ///   segment; what `body` throws.
  public mutating func read(
    _ part: Range<Int64>, _ body: (UnsafeRawBufferPointer) throws -> Void
  ) throws {
    var offset = part.lowerBound
    while offset < part.upperBound {
      guard let literal = Self.extent(at: offset, of: literals)?.extent else {
        throw SegmentError(.corrupt, "byte \(offset) of a segment is wanted and stands elsewhere")
      }
      let end = min(part.upperBound, literal.range.upperBound)
      let start = literal.position + offset - literal.range.lowerBound
      try readLiterals(start..<start + end - offset, body)
      offset = end
    }
  }

  private mutating func readLiterals(
    _ part: Range<Int64>, _ body: (UnsafeRawBufferPointer) throws -> Void
  ) throws {
    var offset = part.lowerBound
    while offset < part.upperBound {
      guard let (number, extent) = Self.extent(at: offset, of: frames) else {
        throw SegmentError(.corrupt, "a segment's frames end before its literals")
      }
      let bytes = try frame(number, extent)
      let end = min(part.upperBound, extent.range.upperBound)
      let wanted = Int(offset - extent.range.lowerBound)..<Int(end - extent.range.lowerBound)
      try bytes.withUnsafeBytes { try body(UnsafeRawBufferPointer(rebasing: $0[wanted])) }
      offset = end
    }
  }

  private mutating func frame(_ number: Int, _ extent: Extent) throws(SegmentError) -> [UInt8] {
    if let open, open.number == number { return open.bytes }
    open = nil
    let bytes = try decoder.decode(
      index.frames[number], of: segment, from: Int(extent.position))
    open = (number, bytes)
    return bytes
  }

  private static func extent(
    at offset: Int64, of extents: [Extent]
  ) -> (number: Int, extent: Extent)? {
    let number = extents.partitionPoint { $0.range.upperBound > offset }
    guard number < extents.count, extents[number].range.contains(offset) else { return nil }
    return (number, extents[number])
  }
}

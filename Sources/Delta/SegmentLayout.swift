/// Where the stream bytes of a segment stand: in which of its frames, or in an earlier generation.
///
/// Everything in an index that could lead a reader astray has been checked when there is a layout:
/// the frames add up to the object and to the literals, the instructions to the stream bytes.
package struct SegmentLayout: Sendable {
  /// Stream bytes that stand in one place.
  package struct Piece: Sendable, Equatable {
    /// The place.
    package enum Source: Sendable, Equatable {
      /// A frame by its number, and the bytes of it once it is decompressed.
      case frame(Int, Range<Int>)
      /// An earlier generation.
      case copy(StreamRange)
    }

    /// Offsets from the segment's start, in stream bytes.
    package let range: Range<Int64>
    /// Where they stand.
    package let source: Source
  }

  private struct Extent: Sendable {
    let range: Range<Int64>
    /// Where the range begins in what it is stored in.
    let position: Int64
  }

  /// The segment's index.
  package let index: SegmentIndex
  /// Offsets from the segment's start of what each instruction makes.
  private let made: [Extent]
  /// Offsets in all literals together, to positions in the object.
  private let frames: [Extent]

  /// Checks an index against the object that it stands in.
  ///
  /// - Parameters:
  ///   - index: the index.
  ///   - indexLength: its length in bytes.
  ///   - stored: the object's size in bytes.
  ///   - generation: the generation of which it is; copies are from earlier ones.
  ///   - length: the number of stream bytes that its name promises.
  /// - Throws: ``SegmentError`` when they do not fit each other.
  package init(
    _ index: SegmentIndex, indexLength: Int, stored: Int64, generation: Int, length: Int64
  ) throws(SegmentError) {
    let instructions = index.instructions
    var position: Int64 = 0
    var raw: Int64 = 0
    frames = index.frames.map { frame in
      let range = raw..<raw + Int64(frame.rawLength)
      defer { (position, raw) = (position + Int64(frame.storedLength), range.upperBound) }
      return Extent(range: range, position: position)
    }
    guard instructions.length == length, instructions.literalLength == raw,
      position == stored - Int64(indexLength)
    else { throw SegmentError(.corrupt, "the segment's frames do not add up to what it promises") }

    var offset: Int64 = 0
    var literal: Int64 = 0
    var made: [Extent] = []
    for instruction in instructions.list {
      let range = offset..<offset + instruction.length
      offset = range.upperBound
      switch instruction {
      case .literal(let count):
        made.append(Extent(range: range, position: literal))
        literal += count
      case .copy(let source):
        guard source.generation < generation else {
          throw SegmentError(
            .corrupt,
            "a segment of generation \(generation) copies from generation \(source.generation)")
        }
        made.append(Extent(range: range, position: source.range.lowerBound))
      }
    }
    self.made = made
    self.index = index
  }

  /// Bytes of the object that a frame takes.
  package func stored(_ frame: Int) -> Range<Int64> {
    let start = frames[frame].position
    return start..<start + Int64(index.frames[frame].storedLength)
  }

  /// Where a part of the segment stands, in order.
  ///
  /// - Parameter part: offsets from the segment's start, in stream bytes; what lies beyond its end
  ///   is left out.
  package func pieces(of part: Range<Int64>) -> [Piece] {
    var pieces: [Piece] = []
    var number = made.partitionPoint { $0.range.upperBound > part.lowerBound }
    while number < made.count {
      let wanted = part.clamped(to: made[number].range)
      guard !wanted.isEmpty else { break }
      append(wanted, of: number, to: &pieces)
      number += 1
    }
    return pieces
  }

  private func append(_ wanted: Range<Int64>, of number: Int, to pieces: inout [Piece]) {
    let shift = made[number].position - made[number].range.lowerBound
    let source = wanted.lowerBound + shift..<wanted.upperBound + shift
    if let delta = index.delta, case .copy(let basis) = delta.list[number] {
      let copied = StreamRange(generation: basis.generation, range: source)
      return pieces.append(Piece(range: wanted, source: .copy(copied)))
    }
    var offset = source.lowerBound
    var frame = frames.partitionPoint { $0.range.upperBound > offset }
    while offset < source.upperBound {
      let extent = frames[frame].range
      let end = min(extent.upperBound, source.upperBound)
      pieces.append(
        Piece(
          range: offset - shift..<end - shift,
          source: .frame(
            frame, Int(offset - extent.lowerBound)..<Int(end - extent.lowerBound))))
      offset = end
      frame += 1
    }
  }
}

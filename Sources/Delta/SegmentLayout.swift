/// Where the stream bytes of a segment are stored: in its frames, or in an earlier generation.
///
/// A layout exists only if everything in the index that could mislead a reader is consistent: the
/// frames add up to the object and to the literals, the instructions to the stream bytes.
package struct SegmentLayout: Sendable {
  /// Stream bytes that are stored contiguously.
  package struct Piece: Sendable, Equatable {
    /// Where bytes are stored.
    package enum Source: Sendable, Equatable {
      /// A frame, by index, and the range in its decompressed bytes.
      case frame(Int, Range<Int>)
      /// An earlier generation.
      case copy(StreamRange)
    }

    /// Offsets from the segment's start, in stream bytes.
    package let range: Range<Int64>
    /// Where they are stored.
    package let source: Source
  }

  private struct Extent: Sendable {
    let range: Range<Int64>
    /// Start of the range in its storage.
    let position: Int64
  }

  /// The segment's index.
  package let index: SegmentIndex
  /// Ranges that each instruction produces, in stream bytes from the segment's start.
  private let made: [Extent]
  /// Maps offsets in the concatenated literals to positions in the object.
  private let frames: [Extent]

  /// Checks an index against its object.
  ///
  /// - Parameters:
  ///   - index: the index.
  ///   - indexLength: its length in bytes.
  ///   - stored: the object's size in bytes.
  ///   - generation: the segment's generation; copies come from earlier ones.
  ///   - length: the number of stream bytes in its name.
  /// - Throws: ``SegmentError`` if they are inconsistent.
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

  /// Range of a frame in the object.
  package func stored(_ frame: Int) -> Range<Int64> {
    let start = frames[frame].position
    return start..<start + Int64(index.frames[frame].storedLength)
  }

  /// Where a part of the segment is stored, in order.
  ///
  /// - Parameter part: offsets from the segment's start, in stream bytes; clamped to its end.
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

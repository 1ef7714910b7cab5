import Platform

/// Reads a segment, plain or delta, trusting nothing in it.
///
/// Its stream bytes result from the ``SegmentIndex/instructions`` of its ``index``: literals are in
/// the segment and are read with ``read(_:_:)``; copies are in segments of an earlier generation
/// and are read from these in the same way. A plain segment is one literal.
///
/// Inconsistent lengths, index or frames are an error. Only the hash in the segment's name proves
/// that a copy finds the bytes it was made from.
package struct SegmentReader {
  /// Where its bytes are stored.
  package let layout: SegmentLayout
  /// The segment's index.
  package var index: SegmentIndex { layout.index }

  private let segment: [UInt8]
  private let decoder: SegmentDecoder
  /// The last frame read.
  private var open: (number: Int, bytes: [UInt8])?

  /// Opens a segment without decompressing a frame.
  ///
  /// - Parameters:
  ///   - segment: all bytes of the object.
  ///   - generation: the segment's generation; copies come from earlier ones.
  ///   - length: the number of stream bytes in its name.
  ///   - decoder: decompresses its frames; may serve other readers too, one at a time.
  /// - Throws: ``SegmentError`` if the index is damaged or inconsistent with the rest.
  package init(
    _ segment: [UInt8], generation: Int, length: Int64, decoder: SegmentDecoder
  ) throws(SegmentError) {
    let (index, indexLength) = try SegmentIndex.decode(endOf: segment[...])
    layout = try SegmentLayout(
      index, indexLength: indexLength, stored: Int64(segment.count), generation: generation,
      length: length)
    self.segment = segment
    self.decoder = decoder
  }

  /// Reads stream bytes that are in the segment itself.
  ///
  /// Sequential reads decompress each frame once.
  ///
  /// - Parameters:
  ///   - part: offsets from the segment's start, in bytes.
  ///   - body: called with the bytes in order, at most ``SegmentEncoder/frameLength`` at a time.
  /// - Throws: ``SegmentError`` for damage, and for a byte that is a copy or beyond the segment;
  ///   errors of `body`.
  package mutating func read(
    _ part: Range<Int64>, _ body: (UnsafeRawBufferPointer) throws -> Void
  ) throws {
    var offset = part.lowerBound
    for piece in layout.pieces(of: part) {
      guard case .frame(let number, let wanted) = piece.source, piece.range.lowerBound == offset
      else { break }
      let bytes = try frame(number)
      try bytes.withUnsafeBytes { try body(UnsafeRawBufferPointer(rebasing: $0[wanted])) }
      offset = piece.range.upperBound
    }
    guard offset >= part.upperBound else {
      throw SegmentError(.corrupt, "byte \(offset) of a segment is wanted and stands elsewhere")
    }
  }

  /// Frees the last frame read.
  mutating func close() {
    guard let bytes = open?.bytes else { return }
    open = nil
    BufferPool.release(bytes)
  }

  private mutating func frame(_ number: Int) throws(SegmentError) -> [UInt8] {
    if let open, open.number == number { return open.bytes }
    close()
    let bytes = try decoder.decode(
      index.frames[number], of: segment, from: Int(layout.stored(number).lowerBound))
    open = (number, bytes)
    return bytes
  }
}

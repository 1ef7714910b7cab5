import Platform

/// Reads a segment, plain or delta, trusting nothing in it.
///
/// Its stream bytes are what the ``SegmentIndex/instructions`` of its ``index`` make: literals stand
/// in the segment and are read with ``read(_:_:)``; copies stand in segments of an earlier
/// generation and are read from these in the same way. A plain segment is one literal.
///
/// Whatever is wrong with lengths, index or frames is an error. That a copy finds the bytes it was
/// made from, only the hash in the segment's name tells.
package struct SegmentReader {
  /// Where its bytes stand.
  package let layout: SegmentLayout
  /// The segment's index.
  package var index: SegmentIndex { layout.index }

  private let segment: [UInt8]
  private let decoder: SegmentDecoder
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

  /// Reads stream bytes that stand in the segment itself.
  ///
  /// Each frame is decompressed once when parts are read in order.
  ///
  /// - Parameters:
  ///   - part: offsets from the segment's start, in bytes.
  ///   - body: gets the bytes in order, at most ``SegmentEncoder/frameLength`` at a time.
  /// - Throws: ``SegmentError`` for damage, and when a byte of the part is a copy or beyond the
  ///   segment; what `body` throws.
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

  /// Forgets the frame that was read last.
  mutating func close() {
    guard let bytes = open?.bytes else { return }
    open = nil
    BufferPool.give(bytes)
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

import Crypto
package import Delta
package import LogRecords
package import Platform
package import SessionLog

/// A segment ready to send.
package struct EncodedSegment: Sendable {
  /// Its name.
  package let name: SegmentName
  /// The whole object.
  package let body: [UInt8]
  /// Fingerprint of the stream just before its end, to compare with the next segment's link.
  package let endLink: Link
  /// The tally of the stream up to its end; nil unless it begins the stream, or if the tally would
  /// require reading the stream again.
  package var tally: StreamTally?
  /// The signature's builder after the segment's bytes; nil if none was given.
  package var signature: SignatureBuilder?

  /// Hash of its index, as a seal names it.
  package var indexHash: String {
    get throws { try SegmentIndex.hash(endOf: body[...]).text }
  }

  /// The same content under another name, for a write-once name that is taken by something else.
  ///
  /// - Parameter attempt: from 1, each for a different name.
  /// - Throws: ``Delta/SegmentError`` if the object has no index.
  package func renamed(_ attempt: Int) throws -> EncodedSegment {
    var (index, length) = try SegmentIndex.decode(endOf: body[...])
    index.padding = attempt
    let object = body.dropLast(length) + index.encoded()
    let name = SegmentName(
      session: name.session, generation: name.generation, range: name.range, hash: name.hash,
      stored: ByteCount(object.count), kind: name.kind)
    var segment = EncodedSegment(name: name, body: Array(object), endLink: endLink)
    (segment.tally, segment.signature) = (tally, signature)
    return segment
  }
}

/// Makes segments of a local log, and compares them with it.
///
/// An actor, because the compressor's state is expensive: a few workers serve any number of
/// transfers, which bounds memory.
package actor SegmentWorker {
  private let encoder: SegmentEncoder
  private let decoder: SegmentDecoder

  /// Makes a worker.
  ///
  /// - Throws: ``Delta/SegmentError`` if there is not enough memory.
  package init() throws {
    encoder = try SegmentEncoder()
    decoder = try SegmentDecoder()
  }

  /// Whether an object holds exactly a log's bytes in a segment's range.
  ///
  /// - Parameters:
  ///   - object: all bytes of the object; damage in it makes the result false.
  ///   - name: the segment that it should be.
  ///   - log: the local log.
  /// - Throws: like ``LocalStream/read(_:)``.
  package func isWhole(_ object: [UInt8], of name: SegmentName, in log: LocalStream) throws -> Bool
  {
    try ByteCount(object.count) == name.stored && name.holds(object, from: log, with: decoder)
  }

  /// Encodes from `range.lowerBound` until the range ends, or the object or the segment is large
  /// enough.
  ///
  /// - Parameters:
  ///   - log: the local log, at least as long as `range` extends.
  ///   - session: the log's session.
  ///   - generation: the log's generation.
  ///   - range: stream offsets, not empty.
  ///   - storedLimit: compressed size from which no further frame is added.
  ///   - lengthLimit: log bytes from which no further frame is added.
  ///   - frameLength: maximum log bytes of one frame, at most ``Delta/SegmentEncoder/frameLength``.
  ///   - format: the log's format, from the sidecar.
  ///   - link: fingerprint of the bytes before `range`, if known.
  ///   - signature: consumes the segment's bytes too, if a signature is kept.
  ///   - takesFrames: whether to reuse compressed frames of rotated parts.
  /// - Throws: ``Platform/SystemError``, ``ReplicaError``, ``Delta/SegmentError``.
  package func encode(
    _ log: LocalStream, session: SessionID, generation: Int = 1, range: Range<StreamOffset>,
    storedLimit: Int, lengthLimit: ByteCount = .max,
    frameLength: Int = SegmentEncoder.frameLength, format: LogFormat,
    link: Link? = nil, signature: SignatureBuilder? = nil, takesFrames: Bool = true
  ) throws -> EncodedSegment {
    // A log truncated during a read may have left a segment unfinished.
    encoder.begin(length: range.byteCount.bytes, limit: storedLimit)
    let startLink = try link ?? log.link(before: range.lowerBound)
    var signature = signature
    var hasher = SHA256()
    var offset = range.lowerBound
    var tail: [UInt8] = []
    var whole = LogStatistics(RecordReader(format, reference: try log.status().modified))
    var isCounted = true
    repeat {
      let rest = offset..<range.upperBound
      let ready = takesFrames ? try readyFrame(of: log, range: rest, upTo: frameLength) : nil
      let frame = try ready?.bytes ?? nextFrame(of: log, range: rest, length: frameLength)
      try frame.withUnsafeBytes { bytes in
        hasher.update(bufferPointer: bytes)
        signature?.append(bytes)
        if let ready { return encoder.append(compressed: ready.stored, ready.summary) }
        var statistics = LogStatistics(whole.reader)
        statistics.add(bytes)
        statistics.finish()
        whole.append(statistics)
        try encoder.append(
          bytes, lines: statistics.lines, times: statistics.milliseconds,
          levels: statistics.counts, scenarios: bytes.last == 0x0a ? statistics.allScenarios : nil)
      }
      tail = Array((tail + frame.suffix(Link.span)).suffix(Link.span))
      offset += ByteCount(frame.count)
      let cutsLine = frame.last != 0x0a && offset < range.upperBound
      if cutsLine || ready != nil { isCounted = false }
      BufferPool.release(frame)
    } while offset < range.upperBound && encoder.storedLength < storedLimit
      && offset - range.lowerBound < lengthLimit

    let body = encoder.finish(link: startLink)
    let encoded = range.lowerBound..<offset
    let name = SegmentName(
      session: session, generation: generation, range: encoded,
      hash: NameField.hash16(hasher.finalize()), stored: ByteCount(body.count))
    // A short stream's link covers all of it.
    let isKnown = tail.count == Link.span || StreamOffset(tail.count) == offset
    let endLink = isKnown ? Link(before: tail[...]) : try log.link(before: offset)
    let tally =
      range.lowerBound == 0 && isCounted ? StreamTally(upTo: offset, hasher, whole) : nil
    return EncodedSegment(
      name: name, body: body, endLink: endLink, tally: tally, signature: signature)
  }

  /// Makes a segment of a later generation with the same bytes as an existing one.
  ///
  /// - Parameters:
  ///   - segment: the existing segment.
  ///   - log: the local log, with these bytes.
  ///   - generation: the later generation.
  ///   - sources: where the bytes are in the store.
  /// - Throws: like ``LocalStream/read(_:)``.
  package func copy(
    _ segment: SegmentName, of log: LocalStream, as generation: Int, from sources: [StreamRange]
  ) throws -> EncodedSegment {
    encoder.begin()
    var instructions = DeltaInstructions()
    for source in sources { instructions.append(.copy(source)) }
    let body = encoder.finish(
      link: try log.link(before: segment.range.lowerBound), delta: instructions)
    let name = SegmentName(
      session: segment.session, generation: generation, range: segment.range, hash: segment.hash,
      stored: ByteCount(body.count), kind: .delta)
    return EncodedSegment(
      name: name, body: body, endLink: try log.link(before: segment.range.upperBound))
  }

  /// A rotated part's frame at the range's start, if all of it is in the range.
  private func readyFrame(
    of log: LocalStream, range: Range<StreamOffset>, upTo limit: Int
  ) throws -> (bytes: [UInt8], summary: FrameSummary, stored: [UInt8])? {
    guard let (summary, stored, bytes) = try log.storedFrame(at: range.lowerBound),
      stored.count <= limit, ByteCount(bytes.count) <= range.byteCount
    else { return nil }
    return (bytes, summary, stored)
  }

  /// At most one frame's bytes, cut after the last whole line if there is one.
  private func nextFrame(of log: LocalStream, range: Range<StreamOffset>, length: Int) throws
    -> [UInt8]
  {
    let limit = range.lowerBound + ByteCount(length)
    guard limit < range.upperBound else { return try log.read(range) }
    var bytes = try log.read(range.lowerBound..<limit)
    if let newline = bytes.lastIndex(of: 0x0a) { bytes.removeSubrange((newline + 1)...) }
    return bytes
  }
}

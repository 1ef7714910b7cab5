package import Delta
package import Platform
package import SessionLog

/// Makes the segments of a stream's new generation as deltas against the previous one, given its
/// signature and where its bytes are stored.
///
/// An actor, because it compresses while its caller sends. It reads ahead, and hashes whole
/// segments on other cores than it cuts into blocks. It holds one segment, three pieces, and some
/// blocks in memory.
package actor GenerationSource {
  /// A segment of the new generation.
  package struct Segment: Sendable {
    /// The delta, ready to send.
    package let encoded: EncodedSegment
    /// Stream bytes of it that are copied, which cost nothing.
    package let copied: ByteCount
  }

  private let log: LocalStream
  private let session: SessionID
  private let generation: Int
  private let storedLimit: Int
  private let lengthLimit: ByteCount
  private let frameLength: Int
  private let basis: SourceMap
  private let encoder: SegmentEncoder

  private var delta: DeltaEncoder
  private var builder = SignatureBuilder()
  /// Stream offsets that have not been read yet.
  private var unread: Range<StreamOffset>
  /// The read-ahead of the first piece of ``unread``.
  private var reading: Task<[UInt8], any Error>?
  private var open: OpenSegment
  /// Full segments without a name yet.
  private var full: [FullSegment] = []
  private var finished: [Segment] = []

  /// The segment being filled.
  private struct OpenSegment {
    let start: StreamOffset
    let link: Link
    var instructions = DeltaInstructions()
    /// Literal bytes not in a frame yet.
    var literals: [UInt8] = []
    var hasher = ParallelHasher()
    /// Its last bytes, and slightly more.
    var tail: [UInt8] = []
  }

  private struct FullSegment {
    let range: Range<StreamOffset>
    let body: [UInt8]
    let hasher: ParallelHasher
    let endLink: Link
    let copied: ByteCount
  }

  /// Stream bytes read at a time.
  private static let pieceLength: ByteCount = 512 << 10

  /// Makes a source.
  ///
  /// - Parameters:
  ///   - log: the log as it is now.
  ///   - session: the log's session.
  ///   - generation: the number of the new generation.
  ///   - range: the wanted stream offsets.
  ///   - signature: blocks of the previous generation.
  ///   - basis: where that generation's bytes are stored.
  ///   - storedLimit: compressed size at which a segment ends.
  ///   - lengthLimit: length in stream bytes at which it ends, too.
  ///   - frameLength: maximum literal bytes of one frame, at most
  ///     ``Delta/SegmentEncoder/frameLength``.
  /// - Throws: ``Delta/SegmentError`` if there is not enough memory; like ``LocalStream/read(_:)``.
  package init(
    _ log: LocalStream, session: SessionID, generation: Int, range: Range<StreamOffset>,
    signature: Signature, basis: SourceMap, storedLimit: Int, lengthLimit: ByteCount,
    frameLength: Int = SegmentEncoder.frameLength
  ) throws {
    self.log = log
    self.session = session
    self.generation = generation
    self.basis = basis
    self.storedLimit = storedLimit
    self.lengthLimit = lengthLimit
    self.frameLength = frameLength
    encoder = try SegmentEncoder()
    delta = DeltaEncoder(basis: BlockIndex(signature))
    unread = range
    open = OpenSegment(start: range.lowerBound, link: try log.link(before: range.lowerBound))
  }

  /// The next segment; nil after the last.
  ///
  /// - Throws: ``Platform/SystemError``, ``ReplicaError``, ``Delta/SegmentError``.
  package func next() async throws -> Segment? {
    while finished.isEmpty, !unread.isEmpty {
      let piece = try await nextPiece()
      try piece.withUnsafeBytes { try delta.append($0, add) }
      BufferPool.release(piece)
      if unread.isEmpty {
        try delta.finish(add)
        try close()
      }
      for segment in full { finished.append(await named(segment)) }
      full = []
      await open.hasher.catchUp()
      open.hasher.proceed()
    }
    return finished.isEmpty ? nil : finished.removeFirst()
  }

  /// The next bytes of the stream; starts reading those after them.
  private func nextPiece() async throws -> [UInt8] {
    let bytes = try await reading?.value ?? log.read(nextRange)
    unread = unread.lowerBound + ByteCount(bytes.count)..<unread.upperBound
    reading = unread.isEmpty || Parallelism.isSequential ? nil : read()
    return bytes
  }

  /// The first piece of ``unread``.
  private var nextRange: Range<StreamOffset> {
    unread.lowerBound..<min(unread.upperBound, unread.lowerBound + Self.pieceLength)
  }

  private func read() -> Task<[UInt8], any Error> {
    Task { @concurrent [log, range = nextRange] in try log.read(range) }
  }

  /// Blocks of the new generation finished since the last call, from the start of the range.
  package func takeBlocks() -> [Signature.Entry] { builder.takeBlocks() }

  private func add(_ piece: DeltaEncoder.Piece) throws {
    if let block = piece.block { builder.append(block) }
    open.hasher.append(piece.bytes)
    open.tail += UnsafeRawBufferPointer(rebasing: piece.bytes.suffix(Link.span))
    if open.tail.count > 16 * Link.span { open.tail.removeFirst(open.tail.count - Link.span) }
    if let source = piece.source {
      for range in try basis.sources(of: source) { open.instructions.append(.copy(range)) }
    } else {
      open.instructions.append(.literal(Int64(piece.bytes.count)))
      open.literals += piece.bytes
      if open.literals.count >= frameLength { try compressLiterals() }
    }
    // A piece may become as many instructions as its copy has parts in the basis.
    if encoder.storedLength >= storedLimit
      || ByteCount(open.instructions.length) >= lengthLimit
      || open.instructions.list.count >= DeltaInstructions.maximumCount / 2
    {
      try close()
    }
  }

  private func compressLiterals() throws {
    let literals = open.literals
    open.literals = []
    for start in stride(from: 0, to: literals.count, by: frameLength) {
      let frame = literals[start..<min(literals.count, start + frameLength)]
      // Literals begin and end anywhere: there are no whole records to count.
      try frame.withUnsafeBytes {
        try encoder.append(
          $0, lines: 0, times: nil, levels: Array(repeating: 0, count: FrameSummary.levelCount))
      }
    }
  }

  private func close() throws {
    guard open.instructions.length > 0 else { return }
    try compressLiterals()
    let end = open.start + ByteCount(open.instructions.length)
    let body = encoder.finish(link: open.link, delta: open.instructions)
    let endLink =
      open.tail.count >= Link.span
      ? Link(before: open.tail.suffix(Link.span)) : try log.link(before: end)
    full.append(
      FullSegment(
        range: open.start..<end, body: body, hasher: open.hasher, endLink: endLink,
        copied: ByteCount(open.instructions.length - open.instructions.literalLength)))
    open = OpenSegment(start: end, link: endLink)
  }

  private func named(_ segment: FullSegment) async -> Segment {
    let name = SegmentName(
      session: session, generation: generation, range: segment.range,
      hash: NameField.hash16(await segment.hasher.finalize()),
      stored: ByteCount(segment.body.count),
      kind: .delta)
    return Segment(
      encoded: EncodedSegment(name: name, body: segment.body, endLink: segment.endLink),
      copied: segment.copied)
  }
}

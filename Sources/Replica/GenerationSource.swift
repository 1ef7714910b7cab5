import Crypto
public import Delta
public import SessionLog

/// Makes the segments of a stream's new generation as deltas against the one before, of which it
/// knows the signature and where its bytes are stored.
///
/// An actor because it compresses while its caller sends. In memory are one segment and some blocks.
public actor GenerationSource {
  /// A segment of the new generation.
  public struct Segment: Sendable {
    /// The delta, ready to be sent.
    public let encoded: EncodedSegment
    /// Stream bytes of it that are copies, which cost nothing.
    public let copied: Int64
  }

  private let log: LogFile
  private let session: SessionID
  private let generation: Int
  private let storedLimit: Int
  private let frameLength: Int
  private let basis: SourceMap
  private let encoder: SegmentEncoder

  private var delta: DeltaEncoder
  private var builder = SignatureBuilder()
  /// Stream offsets that have not been read yet.
  private var unread: Range<Int64>
  private var open: OpenSegment
  private var finished: [Segment] = []

  /// The segment that is being filled.
  private struct OpenSegment {
    let start: Int64
    let link: Link
    var instructions = DeltaInstructions()
    /// Those that are in no frame yet.
    var literals: [UInt8] = []
    var hasher = SHA256()
    var tail: [UInt8] = []
  }

  /// Stream bytes that are read at a time.
  private static let pieceLength: Int64 = 1 << 20

  /// Makes a source.
  ///
  /// - Parameters:
  ///   - log: the log as it is now.
  ///   - session: whose log it is.
  ///   - generation: the number of the new generation.
  ///   - range: stream offsets of what is wanted of it, in bytes.
  ///   - signature: blocks of the generation before.
  ///   - basis: where that generation's bytes are stored.
  ///   - storedLimit: compressed bytes after which a segment ends.
  ///   - frameLength: literal bytes of one frame at most, to ``Delta/SegmentEncoder/frameLength``.
  /// - Throws: ``Delta/SegmentError`` when there is no memory; as ``LogFile/read(_:)`` does.
  public init(
    _ log: LogFile, session: SessionID, generation: Int, range: Range<Int64>,
    signature: Signature, basis: SourceMap, storedLimit: Int,
    frameLength: Int = SegmentEncoder.frameLength
  ) throws {
    self.log = log
    self.session = session
    self.generation = generation
    self.basis = basis
    self.storedLimit = storedLimit
    self.frameLength = frameLength
    encoder = try SegmentEncoder()
    delta = DeltaEncoder(basis: BlockIndex(signature))
    unread = range
    open = OpenSegment(start: range.lowerBound, link: try log.link(before: range.lowerBound))
  }

  /// The next segment; nil after the last.
  ///
  /// - Throws: ``SessionLog/SystemError``, ``ReplicaError``, ``Delta/SegmentError``.
  public func next() throws -> Segment? {
    while finished.isEmpty, !unread.isEmpty {
      let end = min(unread.upperBound, unread.lowerBound + Self.pieceLength)
      try log.read(unread.lowerBound..<end).withUnsafeBytes { try delta.append($0, add) }
      unread = end..<unread.upperBound
      if unread.isEmpty {
        try delta.finish(add)
        try close()
      }
    }
    return finished.isEmpty ? nil : finished.removeFirst()
  }

  /// Blocks of the new generation that were finished since this was asked last, from the start of
  /// the range on.
  public func takeBlocks() -> [Signature.Entry] { builder.take() }

  private func add(_ piece: DeltaEncoder.Piece) throws {
    if let block = piece.block { builder.append(block) }
    open.hasher.update(bufferPointer: piece.bytes)
    open.tail = Array((open.tail + piece.bytes.suffix(Link.span)).suffix(Link.span))
    if let source = piece.source {
      for range in try basis.sources(of: source) { open.instructions.append(.copy(range)) }
    } else {
      open.instructions.append(.literal(Int64(piece.bytes.count)))
      open.literals += piece.bytes
      if open.literals.count >= frameLength { try compressLiterals() }
    }
    // A piece may become as many instructions as its copy has parts in the basis.
    if encoder.storedLength >= storedLimit
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
      // What is a literal begins and ends anywhere: there are no whole records to count.
      try frame.withUnsafeBytes {
        try encoder.append(
          $0, lines: 0, times: nil, levels: Array(repeating: 0, count: FrameSummary.levelCount))
      }
    }
  }

  private func close() throws {
    guard open.instructions.length > 0 else { return }
    try compressLiterals()
    let end = open.start + open.instructions.length
    let body = encoder.finish(link: open.link, delta: open.instructions)
    let name = SegmentName(
      session: session, generation: generation, range: open.start..<end,
      hash: NameField.hash16(open.hasher.finalize()), stored: Int64(body.count), kind: .delta)
    let endLink =
      open.tail.count == Link.span ? Link(before: open.tail[...]) : try log.link(before: end)
    finished.append(
      Segment(
        encoded: EncodedSegment(name: name, body: body, endLink: endLink),
        copied: open.instructions.length - open.instructions.literalLength))
    open = OpenSegment(start: end, link: endLink)
  }
}

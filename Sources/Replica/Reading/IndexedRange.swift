import Delta
import LogRecords
import ObjectStore
import Platform
import SessionLog

/// A part of a stream, and its properties according to an index.
struct IndexedRange: Sendable, Equatable {
  /// Stream offsets.
  var range: Range<StreamOffset>
  /// Minimum number of newlines in it.
  var lines = 0
  /// Minimum number of records in it by level, lowest first.
  var levels = [Int](repeating: 0, count: FrameSummary.levelCount)
  /// Times of the earliest and latest record, milliseconds since 1970; nil if unknown.
  var times: ClosedRange<Int64>?
  /// The scenarios that occur in it; nil if unknown.
  var scenarios: [[UInt8]]?

  /// Minimum number of records in it.
  var records: Int { levels.reduce(0, +) }

  /// Minimum number of records of some levels in it.
  func records(of ranks: [Int]) -> Int { ranks.reduce(0) { $0 + levels[$1] } }

  /// Whether records of a time span, of some levels and of some scenarios may begin in it.
  func mayHold(_ span: ClosedRange<Int64>?, _ ranks: [Int]?, _ names: [[UInt8]]?) -> Bool {
    if let span, let times, !times.overlaps(span) { return false }
    if let names, let scenarios, !names.contains(where: scenarios.contains) { return false }
    guard let ranks, records > 0 else { return true }
    // Lines before the first record of a stream count as INFO.
    let isHeadless = range.lowerBound == 0 && ranks.contains(Int(Level.info.rawValue))
    return isHeadless || records(of: ranks) > 0
  }

  /// The content of a frame, or part of one, without counts for a part.
  init(_ range: Range<StreamOffset>, of frame: FrameSummary) {
    self.range = range
    times = frame.times
    scenarios = frame.scenarios
    guard range.byteCount == ByteCount(frame.rawLength) else { return }
    lines = frame.lines
    levels = frame.levels
  }

  /// A range with unknown content.
  init(unknown range: Range<StreamOffset>) { self.range = range }

  /// Discards the index's statements about records that begin in it.
  mutating func forgetRecords() {
    times = nil
    scenarios = nil
    levels = [Int](repeating: 0, count: FrameSummary.levelCount)
  }
}

extension [IndexedRange] {
  /// Merges neighbours until at most this many are left.
  mutating func coarsen(to limit: Int) {
    guard count > limit else { return }
    let share = (count + limit - 1) / limit
    self = stride(from: 0, to: count, by: share).map { start in
      self[(start + 1)..<Swift.min(count, start + share)].reduce(into: self[start]) { $0.join($1) }
    }
  }
}

extension IndexedRange {
  /// Appends the following range; what is unknown of one is unknown of both.
  fileprivate mutating func join(_ next: IndexedRange) {
    let isKnown = records > 0 && next.records > 0
    range = range.lowerBound..<next.range.upperBound
    lines += next.lines
    let named = scenarios
    guard isKnown, let own = times, let others = next.times else { return forgetRecords() }
    times =
      Swift.min(own.lowerBound, others.lowerBound)...Swift.max(own.upperBound, others.upperBound)
    for level in levels.indices { levels[level] += next.levels[level] }
    if let named, let others = next.scenarios {
      scenarios = named + others.filter { !named.contains($0) }
    } else {
      scenarios = nil
    }
  }
}

extension RemoteStream {
  /// Bytes of objects kept between choosing and reading.
  private static let cachedLimit = 4 << 20
  /// Frames whose properties are kept between choosing and reading: an index of 1 MiB can name very
  /// many.
  private static let frameLimit = 1 << 16
  /// Maximum number of ranges into which a segment is divided.
  private static let mostRanges = 1024

  /// The ranges of some of the stream's segments, in order.
  ///
  /// - Throws: ``ReplicaError``, ``ObjectStore/StoreError``.
  func ranges(of segments: [SegmentName]) async throws -> [IndexedRange] {
    // Without a verified index, all of a segment is read and compared with its name.
    try await fetchHeads(of: segments.filter { remote.verification(of: $0) != .whole })
    var all: [IndexedRange] = []
    for segment in segments {
      guard remote.verification(of: segment) != .whole else {
        all.append(IndexedRange(unknown: segment.range))
        continue
      }
      var own: [IndexedRange] = []
      let layout = try await head(of: segment).layout
      let pieces = layout.pieces(of: segment.positions)
      for (number, piece) in pieces.enumerated() {
        var ranges: [IndexedRange] = []
        let offset = segment.offset(of: piece.range.lowerBound)
        switch piece.source {
        case .frame(let number, _):
          let end = segment.offset(of: piece.range.upperBound)
          ranges.append(IndexedRange(offset..<end, of: layout.index.frames[number]))
        case .copy(let source):
          ranges += try await self.ranges(of: source, at: offset, copiedBy: segment)
        }
        if segment.kind == .delta { Self.doubtEnds(of: &ranges, number, in: pieces) }
        own += ranges
        if own.count > 4 * Self.mostRanges { own.coarsen(to: Self.mostRanges) }
      }
      own.coarsen(to: Self.mostRanges)
      all += own
    }
    return all
  }

  /// Where a delta's copies and literals meet, lines may have formed or merged unknown to any
  /// index.
  private static func doubtEnds(
    of ranges: inout [IndexedRange], _ number: Int, in pieces: [SegmentLayout.Piece]
  ) {
    func isCopy(_ number: Int) -> Bool {
      guard pieces.indices.contains(number) else { return true }
      if case .copy = pieces[number].source { return true }
      return false
    }
    guard !ranges.isEmpty else { return }
    if isCopy(number) || isCopy(number - 1) { ranges[0].forgetRecords() }
    if isCopy(number) || isCopy(number + 1) { ranges[ranges.count - 1].forgetRecords() }
  }

  private func ranges(
    of source: StreamRange, at offset: StreamOffset, copiedBy delta: SegmentName
  ) async throws -> [IndexedRange] {
    let shift = offset - source.offsets.lowerBound
    var ranges: [IndexedRange] = []
    var from = source.offsets.lowerBound
    while from < source.offsets.upperBound {
      let rest = StreamRange(generation: source.generation, from..<source.offsets.upperBound)
      let (segment, layout, pieces) = try await plain(rest, copiedBy: delta) { name in
        (name, try await head(of: name).layout)
      }
      for piece in pieces {
        guard case .frame(let number, _) = piece.source else { break }
        let end = segment.offset(of: piece.range.upperBound)
        ranges.append(IndexedRange(from + shift..<end + shift, of: layout.index.frames[number]))
        from = end
      }
    }
    return ranges
  }

  private func head(of name: SegmentName) async throws -> SegmentHead {
    if let known = heads[name] { return known }
    let head = try await SegmentHead.fetch(
      name, in: remote.folder, from: store, remote.verification(of: name), whole: false)
    keep(head)
    return head
  }

  private func fetchHeads(of segments: [SegmentName]) async throws {
    let missing = segments.filter { heads[$0] == nil }
    let (remote, store) = (remote, store)
    try await missing.concurrentForEach {
      try await SegmentHead.fetch(
        $0, in: remote.folder, from: store, remote.verification(of: $0), whole: false)
    } _: {
      keep($0)
    }
  }

  private func keep(_ head: SegmentHead) {
    let cached = heads.values.reduce(0) { $0 + $1.loaded.bytes.count }
    let frames = heads.values.reduce(0) { $0 + $1.layout.index.frames.count }
    guard frames + head.layout.index.frames.count <= Self.frameLimit else { return }
    heads[head.name] = cached < Self.cachedLimit ? head : head.withoutBytes
  }
}

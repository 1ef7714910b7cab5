/// A summary of one frame of a segment, by which a reader can choose frames without fetching them.
package struct FrameSummary: Sendable, Equatable {
  /// Number of levels that a frame counts; their order is the format's, lowest level first.
  package static let levelCount = 7

  /// Length of the compressed frame in bytes.
  package var storedLength: Int
  /// Length of its log bytes.
  package var rawLength: Int
  /// Number of newlines in it.
  package var lines: Int
  /// Times of the earliest and latest record in it, milliseconds since 1970 UTC; nil if no record
  /// has a time.
  package var times: ClosedRange<Int64>?
  /// Records by level, `levelCount` entries.
  package var levels: [Int]
  /// The scenarios that occur in it; nil if unknown, for example because its last line has no
  /// newline.
  ///
  /// The index stores them for all frames together, see ``FrameScenarios``.
  package var scenarios: [[UInt8]]?
  /// Hash of the compressed frame; nil if unknown.
  ///
  /// The index stores them for all frames together.
  var hash: ContentHash?

  /// Makes a summary.
  package init(
    storedLength: Int, rawLength: Int, lines: Int, times: ClosedRange<Int64>?, levels: [Int],
    scenarios: [[UInt8]]? = nil
  ) {
    self.storedLength = storedLength
    self.rawLength = rawLength
    self.lines = lines
    self.times = times
    self.levels = levels
    self.scenarios = scenarios
  }
}

extension FrameSummary {
  /// Whether bytes are the compressed frame, by its hash; false if that is unknown.
  package func matches(_ stored: ArraySlice<UInt8>) -> Bool { hash == ContentHash(of: stored) }

  /// Writes the form stored in the index.
  func append(to out: inout [UInt8]) {
    Varint.append(UInt64(storedLength), to: &out)
    Varint.append(UInt64(rawLength), to: &out)
    Varint.append(UInt64(lines), to: &out)
    var present: UInt8 = times == nil ? 0 : 0x80
    for (level, count) in levels.enumerated() where count > 0 { present |= 1 << level }
    out.append(present)
    if let times {
      Varint.append(UInt64(bitPattern: times.lowerBound), to: &out)
      Varint.append(UInt64(times.upperBound - times.lowerBound), to: &out)
    }
    for count in levels where count > 0 { Varint.append(UInt64(count), to: &out) }
  }

  /// Reads what ``append(to:)`` wrote.
  init(from reader: inout ByteReader) throws(SegmentError) {
    let stored = try reader.count()
    let raw = try reader.count(upTo: SegmentEncoder.frameLength)
    guard stored > 0, raw > 0 else { throw SegmentError(.corrupt, "a frame holds nothing") }
    let lines = try reader.count()
    let present = try reader.byte()
    var times: ClosedRange<Int64>?
    if present & 0x80 != 0 {
      let first = Int64(bitPattern: try reader.varint())
      let span = Int64(try reader.count(upTo: 1 << 48))
      let (last, overflow) = first.addingReportingOverflow(span)
      guard !overflow else { throw SegmentError(.corrupt, "a frame's times are out of range") }
      times = first...last
    }
    var levels = [Int](repeating: 0, count: Self.levelCount)
    for level in levels.indices where present & (1 << UInt8(level)) != 0 {
      levels[level] = try reader.count()
    }
    self.init(storedLength: stored, rawLength: raw, lines: lines, times: times, levels: levels)
  }
}

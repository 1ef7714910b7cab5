import Delta
import LogRecords
import Platform
import Redaction
import SessionLog

/// Finds which segments of a stream contain something that rules mask.
///
/// Segments are read in order, and together where one follows another: a private key may begin in
/// one and end in the next. Where two overlap, the bytes of each count. The memory needed depends
/// on the number of segments, not on their length.
struct SegmentMasks: Sendable {
  private let redactor: Redactor
  private let stride: Int
  /// Where segments begin and end, in order.
  private let bounds: [StreamOffset]
  /// By bound, whether something between it and the next is masked.
  private var masked: [Bool]
  /// The segments that follow each other without a gap, up to ``end``; nil before the first one.
  private var joined: MaskSearch?
  private var end = StreamOffset.zero
  /// The segment being read, if it overlaps those before it.
  private var alone: MaskSearch?
  /// Offset of its next byte.
  private var position = StreamOffset.zero

  /// - Parameters:
  ///   - ranges: those of all segments to be read.
  ///   - redactor: the rules.
  ///   - stride: number of bytes to examine at once.
  init(
    of ranges: [Range<StreamOffset>], by redactor: Redactor, stride: Int = MaskSearch.usualStride
  ) {
    self.redactor = redactor
    self.stride = stride
    bounds = Set(ranges.flatMap { [$0.lowerBound, $0.upperBound] }).sorted()
    masked = Array(repeating: false, count: bounds.count)
  }

  /// Begins to read a segment, by start and then the longest first.
  mutating func begin(_ range: Range<StreamOffset>) {
    if joined == nil || range.lowerBound > end {
      finish()
      joined = search(from: range.lowerBound)
      end = range.lowerBound
    }
    alone = range.lowerBound < end ? search(from: range.lowerBound) : nil
    position = range.lowerBound
  }

  /// Adds the next bytes of the segment.
  mutating func add(_ bytes: UnsafeRawBufferPointer) {
    let own = alone?.add(bytes) ?? []
    let known = min(bytes.count, max(0, Int(clamping: end - position)))
    let next = joined?.add(UnsafeRawBufferPointer(rebasing: bytes.dropFirst(known))) ?? []
    mark(own)
    mark(next)
    position += ByteCount(bytes.count)
    end = max(end, position)
  }

  /// Ends the segment.
  mutating func endSegment() {
    let own = alone?.finish() ?? []
    alone = nil
    mark(own)
  }

  /// Ends the stream.
  mutating func finish() {
    let rest = joined?.finish() ?? []
    joined = nil
    mark(rest)
  }

  /// Whether something is masked in the range of a segment, whichever segment has it.
  func isMasked(in range: Range<StreamOffset>) -> Bool {
    masked[parts(of: range)].contains(true)
  }

  private func search(from offset: StreamOffset) -> MaskSearch {
    MaskSearch(redactor, .asIs, at: Int64(offset), stride: stride)
  }

  private mutating func mark(_ found: [Range<Int64>]) {
    for range in found {
      for part in parts(of: Range<StreamOffset>(range)) { masked[part] = true }
    }
  }

  /// The parts between two bounds that a range touches, by index of their first bound.
  private func parts(of range: Range<StreamOffset>) -> Range<Int> {
    let after = bounds.partitionPoint { $0 > range.lowerBound }
    let first = max(0, after - 1)
    return first..<max(first, bounds.partitionPoint { $0 >= range.upperBound })
  }
}

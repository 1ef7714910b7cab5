package import Platform
package import SessionLog

/// Adjacent small segments that one object can replace.
package struct SegmentGroup: Sendable, Equatable {
  /// Stream offsets of all of them.
  package private(set) var range: Range<StreamOffset>
  /// Number of segments.
  package private(set) var count = 1
  /// Their total size in the store: about that of the replacement.
  package private(set) var stored: ByteCount

  private init(_ segment: SegmentName) {
    range = segment.range
    stored = segment.stored
  }

  /// Segments from a quarter of the limit on stay as they are: putting them again costs more than
  /// the object it saves.
  private static let smallestShare = 4

  /// Finds all groups of two and more.
  ///
  /// - Parameters:
  ///   - segments: in stream order, without gaps.
  ///   - limit: maximum size of an object.
  ///   - longest: maximum stream bytes of a group.
  package static func groups(
    of segments: [SegmentName], limit: ByteCount, longest: ByteCount = .max
  ) -> [SegmentGroup] {
    var groups: [SegmentGroup] = []
    for segment in segments
    where segment.kind == .plain && segment.stored * smallestShare < limit {
      if let last = groups.last, last.range.upperBound == segment.range.lowerBound,
        last.stored + segment.stored <= limit,
        segment.range.upperBound - last.range.lowerBound <= longest
      {
        groups[groups.count - 1].append(segment)
      } else {
        groups.append(SegmentGroup(segment))
      }
    }
    return groups.filter { $0.count > 1 }
  }

  private mutating func append(_ segment: SegmentName) {
    range = range.lowerBound..<segment.range.upperBound
    count += 1
    stored += segment.stored
  }
}

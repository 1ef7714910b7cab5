import Replica
import SessionLog

/// How much of a stream has to be read.
enum ReadExtent: Equatable {
  /// All of it, up to this offset, so that the store's copy can be verified by its seal.
  case whole(upTo: StreamOffset)
  /// Some ranges, in order.
  case parts([Range<StreamOffset>])

  /// Describes ranges of a stream, in order, which may be all of it together.
  init(_ ranges: [Range<StreamOffset>], of length: StreamOffset) {
    var end = StreamOffset.zero
    for range in ranges where range.lowerBound <= end { end = max(end, range.upperBound) }
    self = end >= length ? .whole(upTo: length) : .parts(ranges)
  }

  /// The ranges to read.
  var ranges: [Range<StreamOffset>] {
    switch self {
    case .whole(let end): [0..<end]
    case .parts(let ranges): ranges
    }
  }
}

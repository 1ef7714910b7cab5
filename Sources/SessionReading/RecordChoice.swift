package import LogRecords
package import Platform
import SessionLog

/// Which lines of a session are wanted.
package struct RecordChoice: Sendable {
  package let filter: RecordFilter
  /// Only so many of the last ones; nil for all.
  package let lastLines: Int?

  /// Chooses lines.
  package init(_ filter: RecordFilter, lastLines: Int? = nil) {
    self.filter = filter
    self.lastLines = lastLines
  }

  /// Whether that is all of them.
  package var admitsAll: Bool { filter.admitsAll && lastLines == nil }

  /// Whether an index can tell that some of the stream is not needed.
  private var narrows: Bool { times != nil || levels != nil || lastLines != nil }

  /// How bytes from the store are read for it where nothing is to be passed over.
  package var mode: SessionReader.Mode { narrows ? .ranged : .verified }

  /// Bytes of log that sessions have for it, at least; 0 where only reading tells.
  package func promised(by readers: [SessionReader], _ mode: SessionReader.Mode) -> ByteCount {
    guard admitsAll, mode != .salvaged else { return 0 }
    return readers.map(\.length.byteCount).total
  }

  /// The time span asked for, in milliseconds since 1970; nil without one.
  var times: ClosedRange<Int64>? {
    guard filter.since != nil || filter.until != nil else { return nil }
    let first = filter.since?.milliseconds ?? .min
    return first...max(first, filter.until?.milliseconds ?? .max)
  }

  /// The places of the levels asked for; nil for all.
  var levels: [Int]? { filter.levels == .all ? nil : filter.levels.ranks }
}

/// The last lines of many.
struct LastLines {
  private let count: Int
  private var lines: [KeptLine] = []
  /// Where the oldest one stands once there are enough.
  private var oldest = 0

  init(_ count: Int) { self.count = count }

  var isFull: Bool { lines.count == count }

  /// The lines, in order.
  var inOrder: [KeptLine] { Array(lines[oldest...] + lines[..<oldest]) }

  mutating func add(_ line: KeptLine) {
    guard count > 0 else { return }
    guard isFull else { return lines.append(line) }
    lines[oldest] = line
    oldest = (oldest + 1) % count
  }
}

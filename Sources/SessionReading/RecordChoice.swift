package import LogRecords
package import Platform
import SessionLog

/// The lines to read of a session.
package struct RecordChoice: Sendable {
  package let filter: RecordFilter
  /// Number of last lines; nil for all.
  package let lastLines: Int?

  /// Chooses lines.
  package init(_ filter: RecordFilter, lastLines: Int? = nil) {
    self.filter = filter
    self.lastLines = lastLines
  }

  /// Whether it includes all lines.
  package var admitsAll: Bool { filter.admitsAll && lastLines == nil }

  /// Whether an index can exclude parts of the stream.
  private var narrows: Bool {
    times != nil || levels != nil || scenarios != nil || lastLines != nil
  }

  /// How bytes from the store are read for it, unless damage is to be skipped.
  package var mode: SessionReader.Mode { narrows ? .ranged : .verified }

  /// Minimum number of log bytes that sessions contribute; 0 if only reading shows that.
  package func promised(by readers: [SessionReader], _ mode: SessionReader.Mode) -> ByteCount {
    guard admitsAll, mode != .salvaged else { return 0 }
    return readers.map(\.promisedBytes).total
  }

  /// The requested time span, in milliseconds since 1970; nil without one.
  var times: ClosedRange<Int64>? {
    guard filter.since != nil || filter.until != nil else { return nil }
    let first = filter.since?.milliseconds ?? .min
    return first...max(first, filter.until?.milliseconds ?? .max)
  }

  /// Indexes of the requested levels; nil for all.
  var levels: [Int]? { filter.levels == .all ? nil : filter.levels.ranks }

  /// The requested scenarios; nil for all records.
  var scenarios: [[UInt8]]? {
    filter.scenarios.isEmpty ? nil : filter.scenarios.map { Array($0.utf8) }
  }
}

/// Keeps the last lines of many.
struct LastLines {
  private let count: Int
  private var lines: [KeptLine] = []
  /// Index of the oldest one once it is full.
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

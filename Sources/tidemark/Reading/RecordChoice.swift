import LogRecords
import Platform

/// Which lines of a session are wanted, and what happens where some cannot be had.
struct RecordChoice: Sendable {
  let filter: RecordFilter
  /// Only so many of the last ones; nil for all.
  let lastLines: Int?
  /// Whether the reading goes on past what is lost in the store.
  let salvages: Bool

  var admitsAll: Bool { filter.admitsAll && lastLines == nil }

  /// Bytes of log that sessions have for it, at least; 0 where only reading tells.
  func promised(by texts: [SessionText]) -> Int64 {
    guard admitsAll, !salvages else { return 0 }
    return texts.reduce(0) { sum, text in
      let (more, isTooMuch) = sum.addingReportingOverflow(text.length)
      return isTooMuch ? .max : more
    }
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

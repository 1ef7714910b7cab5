import SessionLog

/// Which lines of a session are wanted, and what happens where some cannot be had.
struct RecordChoice: Sendable {
  let filter: RecordFilter
  /// Only so many of the last ones; nil for all.
  let lastLines: Int?
  /// Whether the reading goes on past what is lost in the store.
  let salvages: Bool

  var admitsAll: Bool { filter.admitsAll && lastLines == nil }

  /// The time span asked for, in milliseconds since 1970; nil without one.
  var times: ClosedRange<Int64>? {
    guard filter.since != nil || filter.until != nil else { return nil }
    let first = filter.since?.milliseconds ?? .min
    return first...max(first, filter.until?.milliseconds ?? .max)
  }
}

/// The last lines of many.
struct LastLines {
  typealias Line = (bytes: [UInt8], head: RecordHead?)

  private let count: Int
  private var lines: [Line] = []
  /// Where the oldest one stands once there are enough.
  private var oldest = 0

  init(_ count: Int) { self.count = count }

  var isFull: Bool { lines.count == count }

  mutating func add(_ line: UnsafeRawBufferPointer, _ head: RecordHead?) {
    guard count > 0 else { return }
    guard isFull else { return lines.append((Array(line), head)) }
    lines[oldest] = (Array(line), head)
    oldest = (oldest + 1) % count
  }

  func forEach(_ body: (UnsafeRawBufferPointer, RecordHead?) throws -> Void) rethrows {
    for line in lines[oldest...] + lines[..<oldest] {
      try line.bytes.withUnsafeBytes { try body($0, line.head) }
    }
  }
}

import LogRecords

/// Counts a log's lines while it is read.
struct LineNumbers {
  /// Starts of lines; the first of them has the number ``first``.
  private var starts: [Int64] = [0]
  private var first = 1
  private var position: Int64 = 0

  /// Adds the next bytes of the log.
  mutating func add(_ bytes: UnsafeRawBufferPointer) {
    for (index, byte) in bytes.enumerated() where byte == 0x0a {
      starts.append(position + Int64(index) + 1)
    }
    position += Int64(bytes.count)
  }

  /// The number of a line in the added bytes; nil if it was forgotten.
  func number(of line: RecordLine) -> Int? {
    let count = count(upTo: line.offset)
    return count > 0 ? first + count - 1 : nil
  }

  /// Forgets the lines before the one that has an offset.
  mutating func forget(before offset: Int64) {
    let passed = count(upTo: offset) - 1
    guard passed > 0 else { return }
    starts.removeFirst(passed)
    first += passed
  }

  /// How many of the kept lines start at an offset or before.
  private func count(upTo offset: Int64) -> Int {
    var low = 0
    var high = starts.count
    while low < high {
      let middle = low + (high - low) / 2
      if starts[middle] <= offset { low = middle + 1 } else { high = middle }
    }
    return low
  }
}

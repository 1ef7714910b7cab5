import LogRecords

/// Counts a log's lines while it is read.
struct LineNumbers {
  /// Starts of lines; the first of them has the number ``first``.
  private var starts: [Int64] = [0]
  private var first = 1
  private var position: Int64 = 0
  private let kept: Int

  /// - Parameter kept: how many lines before the newest one stay available.
  init(keeping kept: Int) { self.kept = kept + (1 << 16) }

  /// Adds the next bytes of the log.
  mutating func add(_ bytes: UnsafeRawBufferPointer) {
    for (index, byte) in bytes.enumerated() where byte == 0x0a {
      starts.append(position + Int64(index) + 1)
    }
    position += Int64(bytes.count)
  }

  /// The number of a line in the added bytes; nil if its start is no longer kept.
  ///
  /// - Parameter line: lines must come in order, each after those before it, as far as they are
  ///   kept.
  mutating func number(of line: RecordLine) -> Int? {
    var low = 0
    var high = starts.count
    // Find the last start that is not after it.
    while low < high {
      let middle = low + (high - low) / 2
      if starts[middle] <= line.offset { low = middle + 1 } else { high = middle }
    }
    guard low > 0 else { return nil }
    let number = first + low - 1
    if low > 2 * kept {
      starts.removeFirst(low - kept)
      first += low - kept
    }
    return number
  }
}

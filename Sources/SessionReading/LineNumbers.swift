import LogRecords

/// The numbers of a log's lines, counted while it is read.
struct LineNumbers {
  /// Where lines begin; the first of them has the number ``first``.
  private var starts: [Int64] = [0]
  private var first = 1
  private var position: Int64 = 0
  private let kept: Int

  /// Where lines are looked up that stand before the newest, as many are kept.
  init(keeping kept: Int) { self.kept = kept + (1 << 16) }

  /// Takes the next bytes of the log.
  mutating func add(_ bytes: UnsafeRawBufferPointer) {
    for (index, byte) in bytes.enumerated() where byte == 0x0a {
      starts.append(position + Int64(index) + 1)
    }
    position += Int64(bytes.count)
  }

  /// The number of a line that is in what was taken; nil for one that is not kept any more.
  ///
  /// - Parameter line: lines come in their order, with those before them as far as they are kept.
  mutating func number(of line: RecordLine) -> Int? {
    var low = 0
    var high = starts.count
    // The last start that is not behind it.
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

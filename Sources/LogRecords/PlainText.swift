/// Restores a captured program's output: strips the prefixes, omits the recorder's records, and
/// joins lines that the recorder had to cut.
public struct PlainText: Sendable {
  private var splitter = LineSplitter()
  private var isKept = true
  private var cutsNewline = false

  /// Starts at the beginning of a log.
  public init() {}

  /// Appends the next piece of the log.
  ///
  /// - Returns: the program's bytes in it.
  public mutating func add(_ chunk: UnsafeRawBufferPointer) -> [UInt8] {
    var out: [UInt8] = []
    out.reserveCapacity(chunk.count)
    var splitter = splitter
    self.splitter = LineSplitter()
    splitter.add(chunk) { line, isStart in strip(line, isStart, into: &out) }
    self.splitter = splitter
    return out
  }

  /// The bytes of a last line without a newline.
  public mutating func finish() -> [UInt8] {
    var out: [UInt8] = []
    var splitter = splitter
    splitter.finish { line, isStart in strip(line, isStart, into: &out) }
    self.splitter = LineSplitter()
    return out
  }

  private mutating func strip(
    _ line: UnsafeRawBufferPointer, _ isStart: Bool, into out: inout [UInt8]
  ) {
    var skipped = 0
    if isStart, let prefix = RecordPrefix.parse(line), prefix.time != nil {
      let category = UnsafeRawBufferPointer(rebasing: line[prefix.category])
      if let (_, isContinued) = Category.stream(category) {
        isKept = true
        cutsNewline = isContinued
        skipped = prefix.capturedLength
      } else {
        isKept = !category.elementsEqual(Category.session.utf8)
        cutsNewline = false
        skipped = prefix.length
      }
    }
    guard isKept else { return }
    let end = cutsNewline && line.last == 0x0a ? line.count - 1 : line.count
    guard skipped < end else { return }
    out.append(contentsOf: line[skipped..<end])
  }
}

public import Platform

/// Lines of one log, one after the other.
public protocol LineSource: AnyObject {
  /// The next line; nil where there is none at present.
  func next() async throws -> KeptLine?
}

/// Several logs on one time line: the record that was written first comes first, and the lines that
/// go on with it stay with it.
///
/// Each log keeps its own order, whatever its clock did. A log is not asked for anything before its
/// start comes up, and of each no more than one line is kept.
///
/// ```swift
/// var merge = RecordMerge([.init(first, from: start), .init(second, from: other, offset: .milliseconds(250))])
/// while let (number, line) = try await merge.next() { … }
/// ```
public struct RecordMerge<Source: LineSource> {
  /// One of the logs.
  public struct Input {
    let source: Source
    let start: Timestamp
    /// In milliseconds, because every record's time is corrected by it.
    let offset: Int64

    /// A log.
    ///
    /// - Parameters:
    ///   - source: its lines.
    ///   - start: no record is older by its clock.
    ///   - offset: what its clock lacks.
    public init(_ source: Source, from start: Timestamp, offset: Duration = .zero) {
      self.source = source
      self.start = start
      self.offset = offset.milliseconds
    }
  }

  /// Where a log stands: the time of its next record, and the first line of it once it is known.
  private struct Turn {
    let time: Int64
    let number: Int
    let line: KeptLine?

    func comes(before other: Turn) -> Bool { (time, number) < (other.time, other.number) }
  }

  private let inputs: [Input]
  private var turns: [Turn] = []
  /// The log whose record is under way, and the time of that.
  private var current: (number: Int, time: Int64)?

  /// Merges logs; of records of the same time the earlier log's comes first.
  public init(_ inputs: [Input]) {
    self.inputs = inputs
    for (number, input) in inputs.enumerated() {
      let time = Self.time(input.start, input)
      push(Turn(time: time, number: number, line: nil))
    }
  }

  /// The next line and the number of its log; nil after the last.
  ///
  /// - Throws: what the logs throw.
  public mutating func next() async throws -> (number: Int, line: KeptLine)? {
    if let current {
      let input = inputs[current.number]
      if let line = try await input.source.next() {
        guard line.startsRecord else { return (current.number, line) }
        wait(with: line, current.number, after: current.time)
      }
      self.current = nil
    }
    while let turn = pop() {
      if let line = turn.line {
        current = (turn.number, turn.time)
        return (turn.number, line)
      }
      if let line = try await inputs[turn.number].source.next() {
        wait(with: line, turn.number, after: turn.time)
      }
    }
    return nil
  }

  /// Lets a line wait for its turn; one that tells no time takes the one before.
  private mutating func wait(with line: KeptLine, _ number: Int, after time: Int64) {
    let own = line.time.map { Self.time($0, inputs[number]) }
    push(Turn(time: own ?? time, number: number, line: line))
  }

  private static func time(_ time: Timestamp, _ input: Input) -> Int64 {
    let (sum, isTooMuch) = time.milliseconds.addingReportingOverflow(input.offset)
    return isTooMuch ? time.milliseconds : sum
  }

  // MARK: The heap

  private mutating func push(_ turn: Turn) {
    var index = turns.count
    turns.append(turn)
    while index > 0, turns[index].comes(before: turns[(index - 1) / 2]) {
      turns.swapAt(index, (index - 1) / 2)
      index = (index - 1) / 2
    }
  }

  private mutating func pop() -> Turn? {
    guard let first = turns.first else { return nil }
    let last = turns.removeLast()
    guard !turns.isEmpty else { return first }
    turns[0] = last
    var index = 0
    while true {
      var child = 2 * index + 1
      guard child < turns.count else { return first }
      if child + 1 < turns.count, turns[child + 1].comes(before: turns[child]) { child += 1 }
      guard turns[child].comes(before: turns[index]) else { return first }
      turns.swapAt(index, child)
      index = child
    }
  }
}

public import Platform

/// The lines of one log, in order.
public protocol LineSource: AnyObject {
  /// The next line; nil if there is none at present.
  func next() async throws -> KeptLine?
}

/// Merges several logs by time: the record written first comes first, and its continuation lines
/// stay with it.
///
/// Each log keeps its own order, even if its clock was set back. No line of a log is requested
/// before the log's start is reached, and at most one line per log is kept.
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
    /// In milliseconds, because it is added to every record's time.
    let offset: Int64

    /// Describes a log.
    ///
    /// - Parameters:
    ///   - source: its lines.
    ///   - start: no record is older by its clock.
    ///   - offset: added to its times to correct its clock.
    public init(_ source: Source, from start: Timestamp, offset: Duration = .zero) {
      self.source = source
      self.start = start
      self.offset = offset.milliseconds
    }
  }

  /// The position of a log: the time of its next record, and that record's first line if known.
  private struct Turn {
    let time: Int64
    let number: Int
    let line: KeptLine?

    func comes(before other: Turn) -> Bool { (time, number) < (other.time, other.number) }
  }

  private let inputs: [Input]
  private var turns: [Turn] = []
  /// The log of the current record, and its time.
  private var current: (number: Int, time: Int64)?

  /// Merges logs; among records of the same time, the earlier log's comes first.
  public init(_ inputs: [Input]) {
    self.inputs = inputs
    for (number, input) in inputs.enumerated() {
      let time = Self.time(input.start, input)
      push(Turn(time: time, number: number, line: nil))
    }
  }

  /// The next line and the index of its log; nil after the last.
  ///
  /// - Throws: errors of the logs.
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

  /// Queues a line; one without a time has the time of the one before.
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

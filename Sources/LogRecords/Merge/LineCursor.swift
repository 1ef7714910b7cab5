/// Bytes of a log that are read by position, here or far away.
public protocol PositionedBytes {
  /// Reads a range that is there.
  func read(_ range: Range<Int64>) async throws -> [UInt8]
}

/// Lines of a log that a filter admits, read as they are asked for.
///
/// What it reads may grow: ``extend(to:)`` moves its end, and a line that has no end yet waits.
public final class LineCursor: LineSource {
  private var bytes: any PositionedBytes
  private var filter: RecordFilter
  /// What is still to be read, in order.
  private var ranges: [Range<Int64>]
  private var lines: [KeptLine] = []
  private var taken = 0
  private var isFinal: Bool
  /// Where the last range ends.
  public private(set) var end: Int64

  /// Bytes that are read at a time.
  private static let pieceLength: Int64 = 128 << 10

  /// Reads ranges of a log.
  ///
  /// - Parameters:
  ///   - bytes: the log.
  ///   - ranges: stream offsets in order, with gaps between them.
  ///   - filter: what is wanted of it.
  ///   - isFinal: whether nothing comes after them.
  public init(
    _ bytes: any PositionedBytes, ranges: [Range<Int64>], filter: RecordFilter, isFinal: Bool = true
  ) {
    self.bytes = bytes
    self.ranges = ranges.filter { !$0.isEmpty }
    self.filter = filter
    self.isFinal = isFinal
    end = ranges.last?.upperBound ?? 0
    if let first = ranges.first?.lowerBound, first > 0 { go(to: first) }
  }

  /// Reads on to a later end.
  ///
  /// - Parameters:
  ///   - newEnd: stream offset.
  ///   - bytes: the log as it is now.
  ///   - isFinal: whether nothing comes after it; then a line without a newline is whole.
  public func extend(to newEnd: Int64, of bytes: any PositionedBytes, isFinal: Bool) {
    self.bytes = bytes
    if newEnd > end {
      ranges.append(end..<newEnd)
      end = newEnd
    }
    self.isFinal = isFinal
  }

  /// Goes on at a later place; what is between is not to be had.
  public func skip(to offset: Int64) {
    ranges = []
    lines.removeSubrange(..<taken)
    taken = 0
    filter.finish { lines.append(KeptLine($0)) }
    filter.skip(to: offset)
    end = offset
  }

  /// The next admitted line; nil where there is none before the end.
  public func next() async throws -> KeptLine? {
    while taken == lines.count {
      lines.removeAll(keepingCapacity: true)
      taken = 0
      guard try await readOn() else { return nil }
    }
    taken += 1
    return lines[taken - 1]
  }

  /// - Returns: whether there may be more.
  private func readOn() async throws -> Bool {
    guard let range = ranges.first else {
      guard isFinal else { return false }
      filter.finish { lines.append(KeptLine($0)) }
      return !lines.isEmpty
    }
    let piece = range.lowerBound..<min(range.upperBound, range.lowerBound + Self.pieceLength)
    let read = try await bytes.read(piece)
    read.withUnsafeBytes { filter.add($0) { lines.append(KeptLine($0)) } }
    if piece.upperBound < range.upperBound {
      ranges[0] = piece.upperBound..<range.upperBound
    } else {
      ranges.removeFirst()
      if let next = ranges.first, next.lowerBound > piece.upperBound {
        filter.finish { lines.append(KeptLine($0)) }
        go(to: next.lowerBound)
      }
    }
    return true
  }

  private func go(to offset: Int64) {
    // Without a filter no line depends on the ones before it.
    if filter.admitsAll { filter.position = offset } else { filter.skip(to: offset) }
  }
}

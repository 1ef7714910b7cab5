/// Bytes of a log, local or remote, read by position.
public protocol PositionedBytes {
  /// Reads an existing range.
  func read(_ range: Range<Int64>) async throws -> [UInt8]
}

/// Lines of a log that a filter admits, read on demand.
///
/// The log may grow: ``extend(to:)`` moves its end, and a line without a newline waits.
public final class LineCursor: LineSource {
  private var bytes: any PositionedBytes
  private var filter: RecordFilter
  /// The ranges still to read, in order.
  private var ranges: [Range<Int64>]
  private var lines: [KeptLine] = []
  private var taken = 0
  private var isFinal: Bool
  /// End of the last range.
  public private(set) var end: Int64

  /// Number of bytes read at a time.
  private static let pieceLength: Int64 = 128 << 10

  /// Makes a cursor.
  ///
  /// - Parameters:
  ///   - bytes: the log.
  ///   - ranges: stream offsets in order, with gaps between them.
  ///   - filter: selects the lines.
  ///   - isFinal: whether nothing follows them.
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

  /// Moves the end.
  ///
  /// - Parameters:
  ///   - newEnd: stream offset.
  ///   - bytes: the log as it is now.
  ///   - isFinal: whether nothing follows it; then a line without a newline is complete.
  public func extend(to newEnd: Int64, of bytes: any PositionedBytes, isFinal: Bool) {
    self.bytes = bytes
    if newEnd > end {
      ranges.append(end..<newEnd)
      end = newEnd
    }
    self.isFinal = isFinal
  }

  /// Continues at a later position, skipping unavailable bytes.
  public func skip(to offset: Int64) {
    ranges = []
    lines.removeSubrange(..<taken)
    taken = 0
    filter.finish { lines.append(KeptLine($0)) }
    filter.skip(to: offset)
    end = offset
  }

  /// The next admitted line; nil if there is none before the end.
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
    // Without a filter, lines do not depend on the ones before.
    if filter.admitsAll { filter.position = offset } else { filter.skip(to: offset) }
  }
}

public import LogRecords
import Platform
import Redaction

/// Captures the output of a program.
extension SessionWriter {
  /// A line of about this length or more is cut into several records.
  static let lineLimit = 1 << 20

  /// Records captured output; complete lines become records in one write.
  ///
  /// - Parameters:
  ///   - bytes: the program's output, cut anywhere.
  ///   - stream: the stream it was printed to.
  public func capture(_ bytes: UnsafeRawBufferPointer, from stream: CapturedStream) {
    let time = machine.now()
    state.withLock { state in
      guard options.format == .lines else {
        return put(Array(bytes), highest: .trace, time, &state)
      }
      var records: [UInt8] = []
      records.reserveCapacity(bytes.count * 2)
      var highest = Level.trace
      var rest = bytes
      while let end = LineSplitter.lineEnd(rest) {
        let line = UnsafeRawBufferPointer(rebasing: rest.prefix(end))
        rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(end))
        let level: Level
        if var partial = state.partial.removeValue(forKey: stream) {
          partial.bytes += line
          level = partial.bytes.withUnsafeBytes {
            append($0, stream, isWhole: true, time, &state, to: &records)
          }
        } else {
          level = append(line, stream, isWhole: true, time, &state, to: &records)
        }
        highest = max(highest, level)
      }
      if !rest.isEmpty {
        var partial = state.partial.removeValue(forKey: stream) ?? Partial(since: time)
        partial.bytes += rest
        if partial.bytes.count >= Self.lineLimit {
          let cut = Self.cut(partial.bytes)
          _ = partial.bytes[..<cut].withUnsafeBytes {
            append($0, stream, isWhole: false, time, &state, to: &records)
          }
          partial = Partial(bytes: Array(partial.bytes[cut...]), since: time)
        }
        if !partial.bytes.isEmpty { state.partial[stream] = partial }
      }
      put(records, highest: highest, time, &state)
    }
  }

  private func append(
    _ line: UnsafeRawBufferPointer, _ stream: CapturedStream, isWhole: Bool, _ time: Timestamp,
    _ state: inout State, to records: inout [UInt8]
  ) -> Level {
    let unknown = stream == .standardError ? options.standardErrorLevel : .info
    let level = LevelDetector.level(ofCaptured: line) ?? unknown
    RecordPrefix.append(
      time: state.prefix(time), level: level,
      category: isWhole ? stream.category : stream.category + [Category.continued], to: &records)
    state.statistics.count(level, at: time, category: stream.category)
    records.append(contentsOf: line)
    if !isWhole { records.append(0x0a) }
    return level
  }

  /// Writes the unfinished lines.
  func flushPartial(_ time: Timestamp, _ state: inout State) {
    var records: [UInt8] = []
    for (stream, partial) in state.partial.sorted(by: { $0.key.name > $1.key.name }) {
      _ = partial.bytes.withUnsafeBytes {
        append($0, stream, isWhole: false, time, &state, to: &records)
      }
    }
    state.partial = [:]
    put(records, highest: .trace, time, &state)
  }

  /// Whether a line has waited too long for its end.
  func hasOverdueLine(at time: Timestamp, _ state: borrowing State) -> Bool {
    state.partial.contains {
      let waited = time - $0.value.since
      return waited >= options.patience
        && (waited >= Self.secretPatience || !Self.mayEndInSecret($0.value.bytes))
    }
  }

  /// A line that may end in the middle of a secret waits at least this long: written in two pieces,
  /// neither would be masked.
  private static let secretPatience = Duration.seconds(60)

  private static func mayEndInSecret(_ line: [UInt8]) -> Bool {
    let end = Array(line.suffix(Redactor.context))
    return Redactor.standard.settled(end, at: 0, .asIs) < end.count
  }

  /// The length of a long line's beginning that becomes a record; not within a secret if possible.
  private static func cut(_ line: [UInt8]) -> Int {
    let end = Array(line.suffix(Redactor.context))
    return line.count - end.count + Redactor.standard.cut(end)
  }
}

import Platform
import Redaction
package import SessionLog

/// A stream that lacks rotated parts, or whose parts are damaged.
extension LocalStream {
  /// The stream in pieces, each without a hole: only itself unless a rotated part between others is
  /// gone, or cannot be opened.
  ///
  /// - Parameter unreadable: ranges that count as gone, too.
  /// - Throws: ``Platform/SystemError``.
  package func runs(without unreadable: [Range<StreamOffset>] = []) throws -> [LocalStream] {
    guard let only = pieces.first, pieces.count == 1, let recorded = only.file as? RecordedLog,
      only.start == recorded.start
    else { return [self] }
    let runs = unreadable.reduce(try recorded.runs()) { runs, gone in
      runs.flatMap { run in
        let rests = [
          run.lowerBound..<max(run.lowerBound, min(run.upperBound, gone.lowerBound)),
          min(run.upperBound, max(run.lowerBound, gone.upperBound))..<run.upperBound,
        ]
        return run.overlaps(gone) ? rests.filter { !$0.isEmpty } : [run]
      }
    }
    guard runs.count > 1 || runs.first.map({ $0.lowerBound > recorded.start }) == true else {
      return [self]
    }
    return runs.enumerated().map { number, run in
      LocalStream(self, recorded, run, isLast: number + 1 == runs.count)
    }
  }

  /// The stream after its last hole: what is before it counts as pruned.
  ///
  /// - Parameter unreadable: ranges that count as gone, too.
  /// - Throws: ``Platform/SystemError``.
  package func afterHoles(without unreadable: [Range<StreamOffset>] = []) throws -> LocalStream {
    try runs(without: unreadable).last ?? self
  }

  /// The damaged ranges of a recorded session's stream, in order; reads all of it.
  ///
  /// - Throws: ``Platform/SystemError``.
  package func damage() throws -> [Range<StreamOffset>] {
    guard let recorded = pieces.first?.file as? RecordedLog else { return [] }
    return try stretches(of: recorded, upTo: recorded.end()).filter { $0.problem != nil }
      .map(\.range)
  }

  /// Delivers what can be read of a recorded session's stream, past parts that are gone and frames
  /// that are damaged; each is named, with the error.
  ///
  /// - Parameter end: bytes after it are ignored.
  /// - Throws: ``Platform/SystemError``; for another session's stream like ``read(_:)``; errors of
  ///   `body`.
  package func salvage(upTo end: StreamOffset, _ body: (StreamPart) throws -> Void) throws {
    guard let recorded = pieces.first?.file as? RecordedLog else {
      return try forEachPiece(of: 0..<end) { try body(.bytes($0)) }
    }
    func lose(_ range: Range<StreamOffset>, _ reason: String) throws {
      guard !range.isEmpty else { return }
      try body(.damage(StreamDamage(range: range, isLost: true, reason: reason)))
    }
    for (range, problem) in try stretches(of: recorded, upTo: end) {
      if let problem {
        try lose(range, problem)
        continue
      }
      // Masks depend on what precedes: they must not reach into what cannot be read.
      let run = LocalStream(self, recorded, range, isLast: false)
      let start = min(range.upperBound, try run.safeBeginning())
      try lose(range.lowerBound..<start, "the rest of a private key whose beginning is lost")
      try run.forEachPiece(of: start..<range.upperBound) { try body(.bytes($0)) }
    }
  }

  /// The readable and the unreadable stretches up to an offset, in order, and why the latter are.
  private func stretches(
    of recorded: RecordedLog, upTo end: StreamOffset
  ) throws -> [(range: Range<StreamOffset>, problem: String?)] {
    var stretches: [(range: Range<StreamOffset>, problem: String?)] = []
    var offset = StreamOffset.zero
    func add(upTo end: StreamOffset, _ problem: String?) {
      guard offset < end else { return }
      if let last = stretches.last, last.problem == problem {
        stretches[stretches.count - 1].range = last.range.lowerBound..<end
      } else {
        stretches.append((offset..<end, problem))
      }
      offset = end
    }
    for run in try recorded.runs() {
      while offset < min(end, run.lowerBound) {
        let isHere = recorded.parts.contains { $0.start == offset }
        let next = recorded.parts.map(\.start).first { $0 > offset } ?? run.lowerBound
        add(
          upTo: min(end, next, run.lowerBound),
          isHere ? "its file cannot be read" : "not on this machine")
      }
      let last = min(end, run.upperBound)
      while offset < last {
        let unit = offset..<min(last, Self.unitEnd(at: offset, of: recorded) ?? last)
        add(upTo: unit.upperBound, problem(reading: unit))
      }
    }
    return stretches
  }

  /// The end of what is damaged as a whole: a frame, or a part that cannot be opened; nil in the live
  /// log.
  private static func unitEnd(at offset: StreamOffset, of log: RecordedLog) -> StreamOffset? {
    let frameEnd = try? log.withPart(at: offset) { part, start -> StreamOffset? in
      let position = (offset - start).bytes
      return (part as? CompressedPart)?.frames.first { $0.range.contains(position) }
        .map { start + ByteCount($0.range.upperBound) }
    }
    if let end = frameEnd ?? nil { return end }
    return log.parts.map(\.start).first { $0 > offset } ?? (offset < log.base ? log.base : nil)
  }

  /// Why a range cannot be read; nil if it can.
  private func problem(reading range: Range<StreamOffset>) -> String? {
    var offset = range.lowerBound
    do {
      while offset < range.upperBound {
        let end = min(range.upperBound, offset + 128 << 10)
        _ = try rawBytes(offset..<end)
        offset = end
      }
      return nil
    } catch {
      return "\(error)"
    }
  }
}

import LogRecords
import Platform
package import Redaction
package import SessionLog

/// The rules that bind a stream from one offset up to the next span.
package struct RedactionSpan: Sendable {
  /// Its first offset, and the version of the rules.
  package let epoch: Sidecar.RedactionEpoch
  /// The rules.
  package let redactor: Redactor

  /// Makes a span.
  package init(_ epoch: Sidecar.RedactionEpoch, _ redactor: Redactor) {
    self.epoch = epoch
    self.redactor = redactor
  }
}

/// A stream as it is sent: each byte masked by the rules of its span, which see the local stream
/// up to the span's end.
final class RedactedView: Sendable {
  let spans: [RedactionSpan]
  let format: LogFormat
  /// Masked bytes from the beginning up to an offset, by kind.
  let tally = Guarded<(end: StreamOffset, counts: [String: Int])>((0, [:]))
  /// The bytes before the last offset read, needed by the next read.
  private let last = Guarded<(end: StreamOffset?, bytes: [UInt8])>((nil, []))

  /// Number of bytes read beyond the wanted ones; most lines end within it.
  private static let ahead: ByteCount = 4096

  init(_ spans: [RedactionSpan], _ format: LogFormat) {
    self.spans = spans
    self.format = format
  }

  /// Reads a range.
  ///
  /// - Returns: the bytes, and whether any of them is masked.
  func read(_ range: Range<StreamOffset>, of log: LocalStream) throws -> (
    bytes: [UInt8], isMasked: Bool
  ) {
    var bytes: [UInt8] = []
    var isMasked = false
    var start = range.lowerBound
    for (number, span) in spans.enumerated() {
      let end = number + 1 < spans.count ? spans[number + 1].epoch.from : .max
      let lower = max(start, span.epoch.from)
      let upper = min(range.upperBound, end)
      guard lower < upper else { continue }
      if start < lower { bytes += try log.rawBytes(start..<lower) }
      let masked = try read(lower..<upper, of: log, upTo: end, by: span.redactor)
      bytes = bytes.isEmpty ? masked.bytes : bytes + masked.bytes
      isMasked = isMasked || masked.isMasked
      start = upper
    }
    if start < range.upperBound { bytes += try log.rawBytes(start..<range.upperBound) }
    return (bytes, isMasked)
  }

  private func read(
    _ range: Range<StreamOffset>, of log: LocalStream, upTo end: StreamOffset, by redactor: Redactor
  ) throws -> (bytes: [UInt8], isMasked: Bool) {
    let before = try before(range.lowerBound, of: log)
    let available = try min(end, log.available().upperBound)
    let ahead = max(range.upperBound, min(available, range.upperBound + Self.ahead))
    var text = try log.rawBytes(range.lowerBound..<ahead)
    remember(before, text.dropLast(Int(ahead - range.upperBound)), upTo: range.upperBound)
    let decisive = before[redactor.decisiveStart(in: before)...]
    if !decisive.isEmpty { text.insert(contentsOf: decisive, at: 0) }
    let wanted = decisive.count..<decisive.count + Int(range.byteCount)
    try finishLine(&text, after: wanted.upperBound, at: ahead, available, of: log)
    let start = range.lowerBound - ByteCount(wanted.lowerBound)
    let found = redactor.mask(&text, at: Int64(start), format)
    count(found, range, start)
    text.removeLast(text.count - wanted.upperBound)
    text.removeFirst(wanted.lowerBound)
    return (text, found.contains { $0.range.overlaps(wanted) })
  }

  /// At least the bytes before an offset that can affect the masking after it.
  private func before(_ offset: StreamOffset, of log: LocalStream) throws -> [UInt8] {
    if let known = last.withLock({ $0.end == offset ? $0.bytes : nil }) { return known }
    let first = max(try log.available().lowerBound, offset - ByteCount(Redactor.context))
    return first < offset ? try log.rawBytes(first..<offset) : []
  }

  private func remember(_ before: [UInt8], _ text: ArraySlice<UInt8>, upTo end: StreamOffset) {
    let rest = text.suffix(Redactor.context)
    let bytes = before.suffix(Redactor.context - rest.count) + rest
    last.withLock { $0 = (end, Array(bytes)) }
  }

  /// Extends a text to the end of the line in which the wanted bytes end, as far as that line is on
  /// this machine and can affect the masking.
  ///
  /// - Parameters:
  ///   - wanted: end of the wanted bytes in the text.
  ///   - end: stream offset of the text's end.
  ///   - available: stream offset at which the local stream ends.
  private func finishLine(
    _ text: inout [UInt8], after wanted: Int, at end: StreamOffset, _ available: StreamOffset,
    of log: LocalStream
  ) throws {
    var position = end
    let limit = min(available, end + ByteCount(Redactor.context))
    var searched = wanted - 1
    while true {
      if let newline = text[searched...].firstIndex(of: 0x0a) {
        return text.removeLast(text.count - newline - 1)
      }
      searched = text.count
      guard position < limit else { return }
      let next = min(available, position + Self.ahead)
      text += try log.rawBytes(position..<next)
      position = next
    }
  }

  private func count(_ found: [MaskedRange], _ range: Range<StreamOffset>, _ start: StreamOffset) {
    tally.withLock { tally in
      guard range.lowerBound <= tally.end, tally.end < range.upperBound else { return }
      for redaction in found {
        let place = start + ByteCount(redaction.range.lowerBound)
        if tally.end <= place, place < range.upperBound {
          tally.counts[redaction.kind, default: 0] += 1
        }
      }
      tally.end = range.upperBound
    }
  }
}

package import LogRecords
import Platform
package import Redaction

/// A local log as it would be sent under given rules, read from beginning to end.
package struct RedactedReading {
  private let log: RecordedLog
  private let format: LogFormat
  private let redactor: Redactor

  /// Bytes read at a time.
  private static let piece: ByteCount = 1 << 20

  /// Opens a session's log at its present length.
  ///
  /// - Throws: ``Platform/SystemError``.
  package init(_ files: SessionFiles, format: LogFormat, redactor: Redactor) throws {
    log = try RecordedLog(files)
    (self.format, self.redactor) = (format, redactor)
  }

  /// Passes the masked bytes to a closure, in order.
  ///
  /// - Throws: ``Platform/SystemError``, and errors of `body`.
  package func forEachPiece(_ body: (UnsafeRawBufferPointer) throws -> Void) throws {
    let end = try log.end()
    var start = log.start
    var before: [UInt8] = []
    while start < end {
      let wanted = min(end, start + Self.piece)
      var text = try log.read(start..<wanted)
      guard !text.isEmpty else { return }
      // The rest of the line may affect the masking of these bytes.
      let ahead = try log.read(wanted..<min(end, wanted + ByteCount(Redactor.context)))
      let lineEnd = text.last == 0x0a ? 0 : ahead.firstIndex(of: 0x0a).map { $0 + 1 }
      text += ahead.prefix(lineEnd ?? ahead.count)
      let count = Int(wanted - start) + (lineEnd ?? 0)
      let decisive = Array(before[redactor.decisiveStart(in: before)...])
      let raw = text.prefix(count)
      before = Array((before + raw).suffix(Redactor.context))
      var masked = decisive + text
      _ = redactor.mask(&masked, at: Int64(start) - Int64(decisive.count), format)
      try masked.withUnsafeBytes {
        try body(UnsafeRawBufferPointer(rebasing: $0[decisive.count..<decisive.count + count]))
      }
      start += ByteCount(count)
    }
  }
}

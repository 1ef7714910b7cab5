import Foundation
import LogRecords
import Logging
import Platform
import SessionLog

/// Writes log messages as lines: `2026-11-22T17:02:03.123Z debug put a/b: 12 B, 3 ms`.
///
/// A line is one write, so that lines of several threads, and of helper processes, stay whole.
/// Messages include texts from servers, so control characters are escaped.
struct DiagnosticHandler: LogHandler {
  var logLevel: Logger.Level
  var metadata: Logger.Metadata = [:]
  private let now: @Sendable () -> Timestamp
  private let write: @Sendable ([UInt8]) -> Void

  /// Makes a handler.
  ///
  /// - Parameters:
  ///   - level: the least severe level to write.
  ///   - now: the clock.
  ///   - write: writes a line.
  init(
    _ level: Logger.Level, now: @escaping @Sendable () -> Timestamp = { .now() },
    write: @escaping @Sendable ([UInt8]) -> Void = Console.report
  ) {
    logLevel = level
    self.now = now
    self.write = write
  }

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) {
    var text = "\(event.message)"
    if let error = event.error { text += ": \(error)" }
    let all = metadata.merging(event.metadata ?? [:]) { $1 }
    for (key, value) in all.sorted(by: { $0.key < $1.key }) { text += " \(key)=\(value)" }
    let line = String(printable: text.utf8)
      .replacing("\n", with: "␊").replacing("\t", with: "␉")
    write(now().isoBytes + Array(" \(event.level.rawValue) \(line)\n".utf8))
  }
}

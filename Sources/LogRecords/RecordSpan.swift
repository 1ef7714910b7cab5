public import Foundation
public import Platform

/// The times of a log's first and last record, from its first and last few KiB.
///
/// ```swift
/// let span = RecordSpan(head: head, tail: tail, reference: modified)
/// let startedAt = span?.first ?? created
/// ```
public struct RecordSpan: Sendable, Equatable {
  /// The format of the records.
  public let form: RecordForm
  /// Time of the first record with a time.
  public let first: Timestamp
  /// Time of the last record.
  public let last: Timestamp

  /// Reads both ends of a log of another program.
  ///
  /// - Parameters:
  ///   - head: its first bytes.
  ///   - tail: its last bytes; they may overlap the first, and begin in the middle of a line. Empty
  ///     if `head` is the whole log.
  ///   - reference: when the log was last modified; determines the year of times without one.
  ///   - zone: for times without a zone; by default the machine's.
  /// - Returns: nil if no record of a known format has a time.
  public init?(
    head: UnsafeRawBufferPointer, tail: UnsafeRawBufferPointer, reference: Timestamp,
    zone: TimeZone? = nil
  ) {
    var reader = RecordReader(.asIs, reference: reference, zone: zone)
    var times: (first: Timestamp, last: Timestamp)?
    let whole = LineSplitter.lineEnd(tail) ?? tail.count
    for piece in [head, UnsafeRawBufferPointer(rebasing: tail[whole...])] {
      var splitter = LineSplitter()
      let read = { (line: UnsafeRawBufferPointer, _: Bool) in
        guard let time = reader.read(line)?.time else { return }
        times = (times?.first ?? time, time)
      }
      splitter.add(piece, read)
      splitter.finish(read)
    }
    guard let times else { return nil }
    form = reader.form ?? .time
    // If the clock was set back, the log must not end before it starts.
    first = min(times.first, times.last)
    last = max(times.first, times.last)
  }
}

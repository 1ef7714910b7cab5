import LogRecords
import Platform

/// Appends whole records to a log and never fails its caller.
///
/// Records that a full disk rejects, or that the caller omits, are counted, and a GAP record
/// reports them as soon as there is space again.
struct LogAppender: ~Copyable {
  /// The log.
  var log: LiveLog
  /// Bytes of records missing since the last complete record.
  private(set) var missing: Int64 = 0
  /// Whether records are omitted because the home's disk quota is used up.
  var isOverQuota = false
  /// The error number that caused the gap; 0 if records were omitted.
  private(set) var cause: Int32 = 0
  /// Whether the failure cut a record, so that its line has no end yet.
  private var isTorn = false

  private let format: LogFormat

  init(_ log: consuming LiveLog, _ format: LogFormat = .lines) {
    self.log = log
    self.format = format
  }

  /// Appends records.
  ///
  /// - Parameters:
  ///   - records: whole records, each ending in a newline.
  ///   - time: the time for a GAP record.
  mutating func append(_ records: UnsafeRawBufferPointer, time: Timestamp) {
    if isOverQuota { cause = 0 }
    if isOverQuota || missing > 0 && !closeGap(time: time) {
      missing += Int64(records.count)
      return
    }
    let written = writeAll(records)
    guard written < records.count else { return }
    missing += Int64(records.count - written)
    isTorn = written > 0 && records[written - 1] != 0x0a
  }

  /// Appends what a former log wrote since its file was last found in place, and takes over its gap.
  ///
  /// - Parameter observe: called with each piece.
  mutating func takeOver(
    _ former: borrowing LogAppender, at time: Timestamp,
    _ observe: (UnsafeRawBufferPointer) -> Void
  ) {
    var next = former.log.unplacedStart
    while let piece = try? former.log.read(at: next, count: 1 << 20), !piece.isEmpty {
      piece.withUnsafeBytes { bytes in
        append(bytes, time: time)
        observe(bytes)
      }
      next += Int64(piece.count)
    }
    guard former.missing > 0 else { return }
    if missing == 0 { (cause, isTorn) = (former.cause, former.isTorn) }
    missing += former.missing
  }

  /// Bytes of records that are in no file with a name, if the log's file has none any more.
  var unplaced: Int64 { log.unplaced + missing }

  /// Writes the GAP record for missing records; returns whether the log is whole again.
  mutating func closeGap(time: Timestamp) -> Bool {
    guard missing > 0 else { return true }
    guard !isOverQuota else { return false }
    let line =
      format == .lines
      ? GapLine.record(missing, reason, at: time)
      : Array("\(GapLine.text(missing, reason))\n".utf8)
    let record = (isTorn ? [0x0a] : []) + line
    let written = record.withUnsafeBytes { writeAll($0) }
    if written == record.count {
      missing = 0
      isTorn = false
      return true
    }
    // A torn GAP record counts as text: the next one starts on a new line.
    if written > 0 { isTorn = true }
    return false
  }

  /// Writes until an error; returns the number of bytes written.
  private mutating func writeAll(_ bytes: UnsafeRawBufferPointer) -> Int {
    let (count, error) = log.append(bytes)
    if count < bytes.count { cause = error }
    return count
  }

  /// How much the log's end lacks, and why, for a person; nil if it is whole.
  var gapText: String? { missing > 0 ? "\(ByteCount(missing).text): \(reason)" : nil }

  private var reason: String {
    switch cause {
    case 0: "local-max"
    case SystemError.Number.overQuota: "quota"
    case SystemError.Number.tooLarge: "file size limit"
    default: "disk full"
    }
  }
}

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Appends whole records to a log and never fails its caller: what a full disk does not take is
/// counted, and a GAP record says so as soon as there is room again.
struct LogAppender: ~Copyable {
  /// The log.
  var log: LiveLog
  /// Bytes of records that are missing since the last record that was written whole.
  private(set) var missing: Int64 = 0
  private var cause: Int32 = 0
  /// A record was cut by the failure and its line has no end yet.
  private var isTorn = false

  init(_ log: consuming LiveLog) { self.log = log }

  /// Appends records.
  ///
  /// - Parameters:
  ///   - records: whole records, each ending in a newline.
  ///   - time: the time for a GAP record.
  mutating func append(_ records: UnsafeRawBufferPointer, time: Timestamp) {
    if missing > 0, !closeGap(time: time) {
      missing += Int64(records.count)
      return
    }
    let written = writeAll(records)
    guard written < records.count else { return }
    missing += Int64(records.count - written)
    isTorn = written > 0 && records[written - 1] != 0x0a
  }

  /// Writes the GAP record for what is missing; true when the log is whole again.
  mutating func closeGap(time: Timestamp) -> Bool {
    guard missing > 0 else { return true }
    let reason = cause == EDQUOT ? "quota" : cause == EFBIG ? "file size limit" : "disk full"
    let record = (isTorn ? [0x0a] : []) + GapLine.record(missing, reason, at: time)
    let written = record.withUnsafeBytes { writeAll($0) }
    if written == record.count {
      missing = 0
      isTorn = false
      return true
    }
    // A torn GAP record counts as text: the next one starts on a line of its own.
    if written > 0 { isTorn = true }
    return false
  }

  /// Bytes that were written before an error.
  private mutating func writeAll(_ bytes: UnsafeRawBufferPointer) -> Int {
    let (count, error) = log.append(bytes)
    if count < bytes.count { cause = error }
    return count
  }
}

/// `write(2)` with the error number as a negative count.
package func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
  let count = write(descriptor, bytes.baseAddress, bytes.count)
  return count < 0 ? -Int(errno) : count
}

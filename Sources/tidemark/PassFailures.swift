import Platform
import TidemarkUpload

/// What a process that uploads at an interval says about passes that failed.
struct PassFailures {
  private var isFirst = true
  private var reported: (text: String, at: ContinuousClock.Instant)?

  /// Counts a pass that did not fail.
  mutating func pass() {
    isFirst = false
    reported = nil
  }

  /// The line to print about a pass that failed; nil if an hour has not passed since it was printed.
  ///
  /// An error of usage or configuration may be that of a file that somebody is editing: only the
  /// first pass ends the process by one.
  ///
  /// - Throws: the error, if it ends the process.
  mutating func line(
    for error: any Error, at now: ContinuousClock.Instant
  ) throws -> String? {
    if error is CancellationError { throw error }
    let isForPerson = [.usage, .configuration].contains(ExitStatus(error))
    if isFirst, isForPerson { throw error }
    isFirst = false
    let text = "\(error)"
    guard isForPerson else { return text }
    if let reported, reported.text == text, now - reported.at < UploadPolicy.reportInterval {
      return nil
    }
    reported = (text, now)
    return text
  }
}

public import Foundation
public import Platform

/// Reads the lines of a log in order and determines which ones start a record, with its time, level
/// and subject.
///
/// In logs of other programs it detects the format from the lines. A line continues the record
/// before it if it is indented or empty and, once the format is known, if it has none of the known
/// formats, unless it is more severe than that record. As long as no format is known, each line is
/// a record, except those of a stack trace.
public struct RecordReader: Sendable {
  /// The format of the last record that shows one; nil if unknown, and for our own records.
  public private(set) var form: RecordForm?

  /// Completes times; nil for our own records.
  private var basis: TimeBasis?
  /// Whether a format has matched.
  private var isKnown = false
  /// Level and time of the last record.
  private var before: (level: Level, time: Timestamp?)?

  /// Number of bytes in which to find levels, times and categories.
  private static let window = 4096

  /// Starts at any line of a log.
  ///
  /// - Parameters:
  ///   - format: the format in the sidecar.
  ///   - reference: when the log last grew; times without a year are at most a day later. Without
  ///     it they are unknown.
  ///   - zone: for times without a zone; by default the machine's.
  public init(
    _ format: LogFormat = .lines, reference: Timestamp? = nil, zone: TimeZone? = nil
  ) {
    guard format == .asIs else { return }
    basis = TimeBasis(reference: reference, zone: zone ?? .current)
  }

  /// Reads the next line.
  ///
  /// - Parameter line: with or without its newline.
  /// - Returns: nil if the line continues the record before it.
  public mutating func read(_ line: UnsafeRawBufferPointer) -> RecordHead? {
    guard basis != nil else { return RecordHead(prefixOf: line) }
    var count = line.count
    if count > 0, line[count - 1] == 0x0a { count -= 1 }
    if count > 0, line[count - 1] == 0x0d { count -= 1 }
    let text = ByteScanner(
      UnsafeRawBufferPointer(rebasing: line[..<min(count, Self.window)]))
    guard !text.isAtEnd, !ByteScanner.isSpace(text.next),
      var head = recognise(text) ?? unrecognised(text)
    else { return nil }
    head.time = head.written.flatMap { basis?.time($0) } ?? before?.time
    if head.message.upperBound == text.bytes.count {
      head.message = head.message.lowerBound..<count
    }
    before = (head.level, head.time)
    return head
  }

  private mutating func recognise(_ text: ByteScanner) -> RecordHead? {
    if let form, let head = form.read(text, isExpected: true) { return head }
    for form in RecordForm.allCases where form != self.form {
      guard let head = form.read(text, isExpected: false) else { continue }
      if form.isConclusive { self.form = form }
      // Each line with a priority has its own.
      if form != .priority { isKnown = true }
      return head
    }
    return nil
  }

  /// Reads a line of no known format.
  private func unrecognised(_ text: ByteScanner) -> RecordHead? {
    let isTrouble = before.map { $0.level >= .warning } ?? false
    if isTrouble, StackTrace.continues(text) { return nil }
    if isKnown {
      guard let claim = StackTrace.opening(text) ?? LevelDetector.level(of: text.bytes),
        claim >= .warning, claim > before?.level ?? .info
      else { return nil }
      return RecordHead(nil, claim, before: text)
    }
    if let level = StackTrace.opening(text) ?? StackTrace.exception(text) {
      // The trace of an error follows its message.
      return isTrouble ? nil : RecordHead(nil, level, before: text)
    }
    return LevelFirstForm.read(text, needsTime: false) ?? RecordHead(nil, nil, before: text)
  }
}

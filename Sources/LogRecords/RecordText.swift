package import Platform

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A category or scenario as it appears in records, prepared once for many of them.
package struct RecordWord: Sendable, Hashable {
  /// The bytes between the brackets.
  package let bytes: [UInt8]

  /// A category of a program's own, which readers distinguish from the recorder's and from captured
  /// text's.
  package init(category: String) {
    bytes = Array(RecordText.bracketed(RecordText.ownCategory(category)).utf8)
  }

  /// A scenario.
  package init(scenario: String) { bytes = Array(RecordText.bracketed(scenario).utf8) }

  /// A category of the recorder's own.
  package init(recorders category: String) { bytes = Array(RecordText.bracketed(category).utf8) }
}

/// The bytes of a record that a program writes on purpose.
package enum RecordText {
  /// Makes a record, with continuation lines indented.
  ///
  /// - Parameters:
  ///   - category: any word; ``Category/reserved`` ones are the recorder's.
  package static func bytes(
    _ level: Level, category: String, _ message: String, scenario: String? = nil, at time: Timestamp
  ) -> [UInt8] {
    var record: [UInt8] = []
    append(
      level, category: RecordWord(recorders: category), message,
      scenario: scenario.map(RecordWord.init(scenario:)), time: time.isoBytes, to: &record)
    return record
  }

  /// Appends a record, with continuation lines indented.
  ///
  /// - Parameters:
  ///   - level: its level.
  ///   - category: its category.
  ///   - message: any text.
  ///   - details: appended to the message's last line, such as metadata.
  ///   - scenario: its scenario.
  ///   - time: ``Platform/Timestamp/isoBytes`` of its time.
  ///   - buffer: the buffer to append to.
  package static func append(
    _ level: Level, category: RecordWord, _ message: String, details: [UInt8] = [],
    scenario: RecordWord? = nil, time: [UInt8], to buffer: inout [UInt8]
  ) {
    RecordPrefix.append(
      time: time, level: level, category: category.bytes, scenario: scenario?.bytes, to: &buffer)
    var message = message
    // Prevent the start of the message from being read as its scenario.
    if scenario == nil, message.utf8.first == 0x7b { buffer.append(0x20) }
    message.withUTF8 { appendIndented(UnsafeRawBufferPointer($0), to: &buffer) }
    if !details.isEmpty {
      buffer.append(0x20)
      details.withUnsafeBytes { appendIndented($0, to: &buffer) }
    }
    buffer.append(0x0a)
  }

  private static func appendIndented(_ text: UnsafeRawBufferPointer, to buffer: inout [UInt8]) {
    var rest = text
    while let base = rest.baseAddress, let found = memchr(base, 0x0a, rest.count) {
      let length = UnsafeRawPointer(found) - base + 1
      buffer.append(contentsOf: UnsafeRawBufferPointer(rebasing: rest.prefix(length)))
      buffer.append(0x20)
      buffer.append(0x20)
      rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(length))
    }
    buffer.append(contentsOf: rest)
  }

  /// A category that readers distinguish from the recorder's and from captured text's.
  package static func ownCategory(_ category: String) -> String {
    if category.isEmpty { return "-" }
    return Category.reserved.contains(category) ? category + "_" : category
  }

  /// A name that cannot break the record it is in.
  ///
  /// Its blanks stay: a secret between blanks is recognized by them.
  package static func name(_ text: String) -> String {
    safe(text.unicodeScalars.prefix(128)) { $0.value < 0x20 || $0.value == 0x7f }
  }

  /// A category or scenario without characters that would end its brackets.
  fileprivate static func bracketed(_ text: String) -> String {
    safe(text.unicodeScalars.prefix(64)) {
      $0.value < 0x20 || "[]{}".unicodeScalars.contains($0)
    }
  }

  private static func safe(
    _ text: some Sequence<Unicode.Scalar>, _ isUnsafe: (Unicode.Scalar) -> Bool
  ) -> String {
    String(text.map { isUnsafe($0) ? "_" : Character($0) })
  }
}

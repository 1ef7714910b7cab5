package import Platform

/// The bytes of a record that a program writes on purpose.
package enum RecordText {
  /// Makes a record; continuation lines are indented.
  ///
  /// - Parameters:
  ///   - category: a free word; ``Category/reserved`` ones are the recorder's.
  package static func bytes(
    _ level: Level, category: String, _ message: String, scenario: String? = nil, at time: Timestamp
  ) -> [UInt8] {
    var record: [UInt8] = []
    RecordPrefix.append(
      time: time.isoBytes, level: level, category: Array(bracketed(category).utf8),
      scenario: scenario.map(bracketed), to: &record)
    for byte in message.utf8 {
      record.append(byte)
      if byte == 0x0a { record += [0x20, 0x20] }
    }
    record.append(0x0a)
    return record
  }

  /// A category that readers take neither for the recorder's nor for captured text's.
  package static func ownCategory(_ category: String) -> String {
    if category.isEmpty { return "-" }
    return Category.reserved.contains(category) ? category + "_" : category
  }

  /// A name that cannot break the record it stands in.
  package static func word(_ text: String) -> String {
    safe(text.unicodeScalars.prefix(128)) { $0.value <= 0x20 || $0.value == 0x7f }
  }

  /// A category or scenario without what would end its brackets.
  private static func bracketed(_ text: String) -> String {
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

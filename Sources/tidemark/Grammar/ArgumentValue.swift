import ArgumentParser
import LogRecords
import Platform

/// Parses the values of options, with one grammar for all commands.
///
/// For `transform:`; errors list the valid forms.
enum ArgumentValue {
  /// The start of a time span: the first of two moments, if clocks show the time twice.
  static let since: @Sendable (String) throws -> Timestamp = { try time($0, as: .start) }

  /// The end of a time span: the last of two moments, if clocks show the time twice.
  static let until: @Sendable (String) throws -> Timestamp = { try time($0, as: .end) }

  /// Rejects a span that ends before it begins.
  static func expectOrder(since: Timestamp?, until: Timestamp?) throws {
    if let since, let until, since > until {
      throw ValidationError("--since is after --until: nothing can be between them.")
    }
  }

  private static func time(_ text: String, as bound: TimeText.Bound) throws -> Timestamp {
    guard let time = TimeText.parse(text, now: .now(), zone: .current, as: bound) else {
      throw ValidationError("use \(TimeText.forms)")
    }
    return time
  }

  /// A positive duration.
  static let span: @Sendable (String) throws -> Duration = { text in
    guard let span = Age.parse(text), span > .zero else {
      throw ValidationError("use a time above zero such as \(Age.forms)")
    }
    return span
  }

  /// A duration that may be zero.
  static let spanOrZero: @Sendable (String) throws -> Duration = { text in
    guard let span = Age.parse(text) else {
      throw ValidationError("use a time such as \(Age.forms)")
    }
    return span
  }

  /// A rate in bytes per second.
  static let rate: @Sendable (String) throws -> ByteCount = { text in
    guard let rate = Settings.rate(text) else {
      throw ValidationError("use bytes a second, from 1k, such as \(ByteCount.sizeForms)")
    }
    return rate
  }

  /// A size in bytes.
  static let size: @Sendable (String) throws -> ByteCount = { text in
    guard let size = Settings.bytes(text), size > 0 else {
      throw ValidationError("use a size above zero such as \(ByteCount.sizeForms)")
    }
    return size
  }

  /// Parses a number within bounds.
  static func count(_ range: ClosedRange<Int>) -> @Sendable (String) throws -> Int {
    { text in
      guard let count = Int(text), range.contains(count) else {
        throw ValidationError(
          range.upperBound == .max
            ? "use a number from \(range.lowerBound)"
            : "use a number from \(range.lowerBound) to \(range.upperBound)")
      }
      return count
    }
  }

  /// Levels of records: one and those above, or an exact set.
  static let levels: @Sendable (String) throws -> LevelSet = { text in
    guard let levels = LevelSet(text) else {
      throw ValidationError(
        "use \(levelNames.joined(separator: ", ")) for it and those above, "
          + "ERROR,FAULT for exactly these, =ERROR for exactly one")
    }
    return levels
  }

  /// All levels, lowest first.
  static let levelNames = ["TRACE", "DEBUG", "INFO", "SUCCESS", "WARNING", "ERROR", "FAULT"]
}

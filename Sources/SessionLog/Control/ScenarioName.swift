/// The name of a scenario: a kind of record that is written only while it is on.
///
/// 1 to 64 bytes of UTF-8 without braces and control characters, kept as given and compared byte
/// for byte.
public struct ScenarioName: Sendable, Hashable, Comparable, CustomStringConvertible {
  /// The name.
  public let description: String

  /// Longest name, in bytes.
  static let longest = 64

  /// Validates a name; nil if it is invalid.
  public init?(_ text: String) {
    guard (1...Self.longest).contains(text.utf8.count),
      !text.utf8.contains(where: { $0 < 0x20 || $0 == 0x7f || $0 == 0x7b || $0 == 0x7d })
    else { return nil }
    description = text
  }

  /// Compares bytes.
  public static func < (left: ScenarioName, right: ScenarioName) -> Bool {
    left.description.utf8.lexicographicallyPrecedes(right.description.utf8)
  }

  /// Whether both have the same bytes: composed and decomposed characters differ.
  public static func == (left: ScenarioName, right: ScenarioName) -> Bool {
    left.description.utf8.elementsEqual(right.description.utf8)
  }

  /// Hashes the bytes.
  public func hash(into hasher: inout Hasher) {
    for byte in description.utf8 { hasher.combine(byte) }
  }
}

/// The name of a field in one of this program's own small files.
///
/// Types that every pass reads share it: the first use of each type of key makes the runtime search
/// all conformances of the program, which takes longer than reading the file.
package struct FieldKey: CodingKey, ExpressibleByStringLiteral {
  /// The name.
  package let stringValue: String

  /// Names a field.
  package init(stringLiteral name: String) { stringValue = name }

  /// Names a field.
  package init(stringValue: String) { self.stringValue = stringValue }

  /// Fields have no numbers.
  package var intValue: Int? { nil }

  /// Fields have no numbers.
  package init?(intValue: Int) { return nil }
}

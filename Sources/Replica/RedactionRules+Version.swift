import Crypto
package import Redaction

extension RedactionRules {
  /// The rule set's id: the hash of its JSON, 16 hex digits.
  ///
  /// - Throws: `EncodingError`.
  package func version() throws -> String { NameField.hash16(SHA256.hash(data: try json())) }
}

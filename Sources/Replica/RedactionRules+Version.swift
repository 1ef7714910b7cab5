import Crypto
package import Redaction

extension RedactionRules {
  /// What the set is called: the hash of its JSON, 16 hex digits.
  ///
  /// - Throws: `EncodingError`.
  package func version() throws -> String {
    NameField.hash16(SHA256.hash(data: try json()))
  }
}

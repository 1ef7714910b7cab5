import Crypto
package import Redaction

extension RedactionRules {
  /// The rule set's id: the hash of its JSON, 16 hex digits.
  ///
  /// - Throws: `EncodingError`.
  package func version() throws -> String { Self.version(json: try json()) }

  /// The id of the rule set that has this canonical JSON.
  package static func version(json: [UInt8]) -> String {
    NameField.hash16(SHA256.hash(data: json))
  }
}

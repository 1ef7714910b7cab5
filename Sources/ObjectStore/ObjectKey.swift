import HTTPTransport
import Platform

/// Validates keys, and foreign names in a listing.
enum ObjectKey {
  /// Whether a key consists of the allowed characters, without empty, `.` or `..` segments.
  static func isValid(_ key: String) -> Bool {
    guard !key.isEmpty, key.utf8.count <= 1024, hasAllowedBytes(key) else { return false }
    return key.fields(between: "/", omittingEmpty: false).allSatisfy {
      !$0.isEmpty && $0 != "." && $0 != ".." && $0.utf8.count <= 255
    }
  }

  /// Whether text can be listed: empty, a key, or a key and a slash.
  static func isValidPrefix(_ prefix: String) -> Bool {
    prefix.isEmpty || isValid(prefix.hasSuffix("/") ? String(prefix.dropLast()) : prefix)
  }

  /// Throws `unsupported` unless the key is valid.
  static func check(_ key: String, operation: String) throws {
    guard isValid(key) else { throw refused(key, operation) }
  }

  /// Throws `unsupported` unless the prefix is valid.
  static func checkPrefix(_ prefix: String) throws {
    guard isValidPrefix(prefix) else { throw refused(prefix, "LIST") }
  }

  private static func refused(_ key: String, _ operation: String) -> StoreError {
    StoreError(
      .unsupported, operation: operation, target: key, response: "not a valid key",
      advice: "Keys are made of A-Z a-z 0-9 . _ - / without empty, . or .. segments.")
  }

  private static func hasAllowedBytes(_ key: String) -> Bool {
    key.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"),
        UInt8(ascii: "-"), UInt8(ascii: "/"):
        true
      default: false
      }
    }
  }
}

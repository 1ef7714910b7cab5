import Crypto
import Foundation
import Platform

/// The key that verifies a device's signatures: an Ed25519 key, as text `ed25519:<base64>`.
package struct PublicKey: Sendable, Hashable, CustomStringConvertible {
  /// Its 32 bytes.
  let bytes: [UInt8]

  private static let prefix = "ed25519:"

  init(_ bytes: some Sequence<UInt8>) { self.bytes = Array(bytes) }

  /// Parses the text; nil if it is invalid.
  package init?(_ text: String) {
    guard text.hasPrefix(Self.prefix),
      let data = Data(base64Encoded: String(text.dropFirst(Self.prefix.count))),
      (try? Curve25519.Signing.PublicKey(rawRepresentation: data)) != nil
    else { return nil }
    self.init(data)
    guard description == text else { return nil }
  }

  /// The text.
  package var description: String { Self.prefix + Data(bytes).base64EncodedString() }

  /// The signer's id: base32, lower case, of the first 10 bytes of the key's SHA-256.
  package var id: String {
    // Part of each signature, so it is made of bytes.
    let digits = Array("abcdefghijklmnopqrstuvwxyz234567".utf8)
    var id: [UInt8] = []
    var (bits, count) = (0, 0)
    for byte in Array(SHA256.hash(data: bytes)).prefix(10) {
      bits = (bits & 0xff) << 8 | Int(byte)
      count += 8
      while count >= 5 {
        count -= 5
        id.append(digits[bits >> count & 31])
      }
    }
    return String(decoding: id, as: UTF8.self)
  }

  /// Whether a signature over a message was made with the matching private key.
  func signed(_ message: [UInt8], _ signature: [UInt8]) -> Bool {
    guard let key = try? Curve25519.Signing.PublicKey(rawRepresentation: bytes) else {
      return false
    }
    return key.isValidSignature(signature, for: message)
  }
}

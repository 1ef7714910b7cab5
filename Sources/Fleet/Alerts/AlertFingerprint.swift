import Crypto
import Platform

/// Short ids, derived from the parts that identify an alert or a message.
enum AlertFingerprint {
  /// 32 hex digits, the same for the same parts.
  static func make(_ parts: [String]) -> String {
    // Lengths separate the parts unambiguously.
    let text = parts.map { "\($0.utf8.count):\($0)" }.joined()
    return Hex.text(SHA256.hash(data: Array(text.utf8)).prefix(16))
  }
}

import Crypto
import Platform

/// Short names for what alerts and messages consist of.
enum AlertFingerprint {
  /// 32 hex digits, the same for the same parts.
  static func make(_ parts: [String]) -> String {
    // Lengths keep parts apart, whatever they hold.
    let text = parts.map { "\($0.utf8.count):\($0)" }.joined()
    return Hex.text(SHA256.hash(data: Array(text.utf8)).prefix(16))
  }
}

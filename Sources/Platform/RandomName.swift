/// Random lower-case names.
package enum RandomName {
  private static let alphabet = Array("abcdefghijklmnopqrstuvwxyz0123456789".utf8)

  /// A name of a length in characters.
  ///
  /// - Parameter random: returns 64 random bits, see ``Machine/random``.
  package static func make(_ length: Int, _ random: () -> UInt64) -> String {
    String(
      decoding: (0..<length).map { _ in alphabet[Int(random() % UInt64(alphabet.count))] },
      as: UTF8.self)
  }
}

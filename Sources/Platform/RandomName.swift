/// Random lower-case names from the system's generator.
package enum RandomName {
  private static let alphabet = Array("abcdefghijklmnopqrstuvwxyz0123456789".utf8)

  /// A name of a length in characters.
  package static func make(_ length: Int) -> String {
    String(
      decoding: (0..<length).map { _ in alphabet[Int.random(in: 0..<alphabet.count)] },
      as: UTF8.self)
  }
}

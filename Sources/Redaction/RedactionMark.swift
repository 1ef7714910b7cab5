/// The replacement of a secret: `[REDACTED:kind***]`, as long as the secret, or only `*` if that is
/// too short.
///
/// Existing marks in a text stay as they are, and so does every `*`: redacting a redacted text
/// reveals nothing.
enum RedactionMark {
  private static let opening = Array("[REDACTED:".utf8)
  private static let kind = ByteSet("a-z0-9-")
  private static let star = UInt8(ascii: "*")
  private static let close = UInt8(ascii: "]")

  /// Maximum length of an opening and a kind together, in bytes.
  private static let longest = 10 + RedactionRule.longestKind

  /// Writes a mark over bytes.
  static func write(_ kind: String, over bytes: UnsafeMutableRawBufferPointer) {
    let head = opening + Array(kind.utf8)
    blank(bytes)
    guard bytes.count > head.count else { return }
    bytes.copyBytes(from: head)
    bytes[bytes.count - 1] = close
  }

  /// Writes `*` over bytes, for places in which a mark's brackets have a meaning.
  static func blank(_ bytes: UnsafeMutableRawBufferPointer) {
    for index in bytes.indices { bytes[index] = star }
  }

  /// End of a part of a mark that begins at a position; nil if none does.
  static func end(at place: Int, in text: UnsafeRawBufferPointer) -> Int? {
    switch text[place] {
    case star: return place + 1
    case close where place > 0 && text[place - 1] == star: return place + 1
    case opening[0]: return headEnd(at: place, in: text)
    default: return nil
    }
  }

  /// End of the part of a mark that contains a position; nil if none does.
  static func end(around place: Int, in text: UnsafeRawBufferPointer) -> Int? {
    for start in stride(from: place - 1, through: max(0, place - longest), by: -1)
    where text[start] == opening[0] {
      return headEnd(at: start, in: text).flatMap { $0 > place ? $0 : nil }
    }
    return nil
  }

  private static func headEnd(at start: Int, in text: UnsafeRawBufferPointer) -> Int? {
    var end = start + opening.count
    guard end < text.count, text[start..<end].elementsEqual(opening) else { return nil }
    let limit = min(text.count, start + longest + 1)
    while end < limit, kind.contains(text[end]) { end += 1 }
    guard end < limit, end > start + opening.count else { return nil }
    return text[end] == close ? end + 1 : text[end] == star ? end : nil
  }
}

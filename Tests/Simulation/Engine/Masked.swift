/// Compares a stream with its redacted form.
enum Masked {
  private static let opening = Array("[REDACTED:".utf8)

  /// The first position at which bytes differ from those written, ignoring masks, which have the
  /// length of what they hide; nil if they are a prefix.
  static func difference(_ bytes: [UInt8], _ written: [UInt8], from start: Int = 0) -> Int? {
    guard start + bytes.count <= written.count else { return written.count }
    if bytes.elementsEqual(written[start..<(start + bytes.count)]) { return nil }
    var index = 0
    while index < bytes.count {
      if bytes[index] == written[start + index] || bytes[index] == UInt8(ascii: "*") {
        index += 1
      } else if let end = markEnd(bytes, at: index) {
        index = end
      } else {
        return start + index
      }
    }
    return nil
  }

  /// The end of the mark that contains a position; a piece of a stream may begin or end within one.
  private static func markEnd(_ bytes: [UInt8], at position: Int) -> Int? {
    let lines = bytes[..<position].lastIndex(of: 0x0a).map { $0 + 1 } ?? 0
    let isMark = (max(lines, position - 40)...position).contains {
      bytes[$0...].starts(with: opening)
    }
    let end = bytes[position...].firstIndex { $0 == UInt8(ascii: "]") || $0 == 0x0a } ?? bytes.count
    let isRest = lines == 0 && bytes[position..<end].contains(UInt8(ascii: "*"))
    let isBeginning =
      end == bytes.count && opening.starts(with: bytes[position...].prefix(opening.count))
    return isMark || isRest || isBeginning ? min(end + 1, bytes.count) : nil
  }
}

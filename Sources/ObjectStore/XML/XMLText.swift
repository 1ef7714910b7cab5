/// The text rules of XML: references, white space, names, and escaping.
enum XMLText {
  /// The text with the five named entities and the numeric references resolved.
  ///
  /// Allows references to control characters, although XML 1.0 forbids them: S3 servers write them
  /// for odd foreign names, and one such name must not make a whole listing unreadable.
  static func resolved(_ text: ArraySlice<UInt8>) throws(XMLError) -> [UInt8] {
    guard text.contains(UInt8(ascii: "&")) else { return Array(text) }
    var result: [UInt8] = []
    result.reserveCapacity(text.count)
    var position = text.startIndex
    while position < text.endIndex {
      guard text[position] == UInt8(ascii: "&") else {
        result.append(text[position])
        position += 1
        continue
      }
      let window = text[position..<min(position + 12, text.endIndex)]
      guard let end = window.firstIndex(of: UInt8(ascii: ";")) else {
        throw XMLError(reason: "a reference that does not end", offset: position)
      }
      let name = String(decoding: text[(position + 1)..<end], as: UTF8.self)
      guard let scalar = scalar(name) else {
        throw XMLError(reason: "an unknown entity", offset: position)
      }
      result += Array(String(Character(scalar)).utf8)
      position = end + 1
    }
    return result
  }

  /// The text as element content.
  static func escaped(_ text: String) -> String {
    var result = ""
    for character in text {
      switch character {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      default: result.append(character)
      }
    }
    return result
  }

  private static func scalar(_ name: String) -> Unicode.Scalar? {
    switch name {
    case "lt": return "<"
    case "gt": return ">"
    case "amp": return "&"
    case "quot": return "\""
    case "apos": return "'"
    default: break
    }
    guard name.hasPrefix("#"), !name.contains("+"), !name.contains("-") else { return nil }
    let isHex = name.hasPrefix("#x")
    guard let value = UInt32(name.dropFirst(isHex ? 2 : 1), radix: isHex ? 16 : 10), value > 0
    else { return nil }
    return Unicode.Scalar(value)
  }
}

/// Whether a byte is one of XML's four white-space characters.
func isXMLSpace(_ byte: UInt8) -> Bool {
  byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D
}

/// Whether a byte is allowed in a name, or as its first character.
func isXMLName(_ byte: UInt8, first: Bool) -> Bool {
  switch byte {
  case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
    UInt8(ascii: "_"), UInt8(ascii: ":"), 0x80...0xFF:
    true
  case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."): !first
  default: false
  }
}

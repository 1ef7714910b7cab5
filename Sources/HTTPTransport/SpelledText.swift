/// Finds a text in others, each of its characters in any spelling: as it is, or as URLs, forms, JSON,
/// HTML, XML and quoted-printable write it, and each character of that spelled once more; in UTF-8
/// or in Latin-1.
struct SpelledText: Sendable, Hashable {
  private let characters: [Unicode.Scalar]

  /// Maximum number of spellings within each other.
  private static let depth = 2

  init(_ text: String) { characters = Array(text.unicodeScalars) }

  /// The ranges of a text that spell it, by start.
  func ranges(in text: [UInt8]) -> [Range<Int>] {
    guard let first = characters.first.map({ Array(String($0).utf8)[0] }) else { return [] }
    let isForeign = first >= 0x80
    return text.withUnsafeBufferPointer { text in
      text.indices.compactMap { start in
        let byte = text[start]
        guard byte == first || Self.opens(byte) || isForeign && byte == Self.unknown[0] else {
          return nil
        }
        return end(in: text, from: start).map { start..<$0 }
      }
    }
  }

  /// The farthest end of a spelling that begins at a position; nil if none does.
  private func end(in text: UnsafeBufferPointer<UInt8>, from start: Int) -> Int? {
    var ends: Set = [start]
    for character in characters {
      var next: Set<Int> = []
      for place in ends {
        next.formUnion(Self.ends(of: character, at: place, in: text))
        // A line of quoted-printable may end between two characters.
        for lineEnd in Self.lineEnds where text[place...].starts(with: lineEnd) {
          next.formUnion(Self.ends(of: character, at: place + lineEnd.count, in: text))
        }
      }
      guard !next.isEmpty else { return nil }
      ends = next
    }
    return ends.max()
  }

  private static let lineEnds = [Array("=\r\n".utf8), Array("=\n".utf8)]

  private static func ends(
    of character: Unicode.Scalar, at place: Int, in text: UnsafeBufferPointer<UInt8>
  ) -> Set<Int> {
    let bytes = Array(String(character).utf8)
    var found = ends(of: bytes, at: place, in: text, depth)
    if !character.isASCII, text.indices.contains(place), opens(text[place]) {
      for spelling in escapes(of: character) {
        found.formUnion(ends(of: spelling, at: place, in: text, depth - 1))
      }
    }
    guard !character.isASCII else { return found }
    // In Latin-1 it is one byte, or what decoding that as UTF-8 makes of it.
    if let byte = UInt8(exactly: character.value) {
      found.formUnion(ends(of: byte, at: place, in: text, depth))
    }
    found.formUnion(ends(of: unknown, at: place, in: text, 0))
    return found
  }

  /// The character that takes the place of undecodable bytes.
  private static let unknown = Array("\u{fffd}".utf8)

  private static func ends(
    of bytes: [UInt8], at place: Int, in text: UnsafeBufferPointer<UInt8>, _ depth: Int
  ) -> Set<Int> {
    var ends: Set = [place]
    for byte in bytes {
      ends = ends.reduce(into: Set<Int>()) {
        $0.formUnion(Self.ends(of: byte, at: $1, in: text, depth))
      }
      if ends.isEmpty { break }
    }
    return ends
  }

  private static func ends(
    of byte: UInt8, at place: Int, in text: UnsafeBufferPointer<UInt8>, _ depth: Int
  ) -> Set<Int> {
    guard place < text.count else { return [] }
    var found: Set<Int> = text[place] == byte ? [place + 1] : []
    guard depth > 0, opens(text[place]) else { return found }
    for spelling in spellings[Int(byte)] {
      found.formUnion(ends(of: spelling, at: place, in: text, depth - 1))
    }
    return found
  }

  /// Whether a byte may begin a spelling.
  private static func opens(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "%"), UInt8(ascii: "="), UInt8(ascii: "+"), UInt8(ascii: "\\"),
      UInt8(ascii: "&"):
      true
    default: false
    }
  }

  /// By byte, how it may be spelled.
  private static let spellings: [[[UInt8]]] = (0...255).map { value in
    let byte = UInt8(value)
    let scalar = Unicode.Scalar(byte)
    let short = digits(UInt32(byte), 2)
    var found = short.flatMap { ["%\($0)", "=\($0)", "\\x\($0)"] }.map { Array($0.utf8) }
    guard scalar.isASCII else { return found }
    found += escapes(of: scalar)
    found += named[Character(scalar)]?.map { Array($0.utf8) } ?? []
    return found
  }

  private static let named: [Character: [String]] = [
    " ": ["+"], "&": ["&amp;"], "<": ["&lt;"], ">": ["&gt;"], "\"": ["&quot;", "\\\""],
    "'": ["&apos;", "\\'"], "\\": ["\\\\"], "/": ["\\/"], "\t": ["\\t"], "\n": ["\\n"],
    "\r": ["\\r"],
  ]

  /// The numbers of a character in JSON, HTML and XML.
  private static func escapes(of character: Unicode.Scalar) -> [[UInt8]] {
    let value = character.value
    var found = ["&#\(value);", "&#0\(value);"]
    for count in [1, 2, 4] {
      found += digits(value, count).flatMap { ["&#x\($0);", "&#X\($0);", "\\u{\($0)}"] }
    }
    let units = String(character).utf16.map { digits(UInt32($0), 4) }
    found += [0, 1].map { form in units.map { "\\u" + $0[form] }.joined() }
    return Set(found).map { Array($0.utf8) }
  }

  /// A number's hexadecimal digits, at least so many: in lower and in upper case.
  private static func digits(_ value: UInt32, _ count: Int) -> [String] {
    [false, true].map { isUpper in
      let digits = String(value, radix: 16, uppercase: isUpper)
      return String(repeating: "0", count: max(0, count - digits.count)) + digits
    }
  }
}

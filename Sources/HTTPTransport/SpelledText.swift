/// Finds a text in others, each of its characters in any spelling: as it is, or as URLs, forms, JSON,
/// HTML, XML and quoted-printable write it, and each character of that spelled once more; in UTF-8
/// or in Latin-1, or in UTF-8 that was read as Latin-1 or Windows-1252.
struct SpelledText: Sendable, Hashable {
  private let characters: [Unicode.Scalar]
  /// The numbers of each character that is not ASCII, and of what wrong decodings make of it.
  private let escapes: [Unicode.Scalar: [[UInt8]]]

  /// Maximum number of spellings within each other.
  private static let depth = 2

  init(_ text: String) {
    characters = Array(text.unicodeScalars)
    let foreign = Set(characters).filter { !$0.isASCII }
    let misread = foreign.flatMap { character in
      Self.wrongDecodings.flatMap { String(character).utf8.map($0) }
    }
    escapes = Dictionary(
      uniqueKeysWithValues: foreign.union(misread).map { ($0, Self.escapes(of: $0)) })
  }

  /// Length that no spelling of a character exceeds: four characters for the bytes of one, each as a
  /// number with zeros before it, the characters of which are written as numbers with zeros.
  static let longestCharacter = 768

  /// The ranges of a text that spell it, by start.
  ///
  /// - Parameter isCut: whether the text continues: a spelling that may continue after its end
  ///   counts, up to the end.
  func ranges(in text: [UInt8], isCut: Bool = false) -> [Range<Int>] {
    guard let first = characters.first.map({ Array(String($0).utf8)[0] }) else { return [] }
    let isForeign = first >= 0x80
    return text.withUnsafeBufferPointer { text in
      var known: [Place: Set<Int>] = [:]
      return text.indices.compactMap { start in
        let byte = text[start]
        guard
          byte == first || isForeign && byte >= 0x80
            || Self.opens(byte) && Self.maySpell(at: start, in: text)
        else { return nil }
        return end(in: text, from: start, isCut: isCut, &known).map { start..<$0 }
      }
    }
  }

  /// A character of the text that is looked for, and where one is to begin.
  private struct Place: Hashable {
    let character: Unicode.Scalar
    let offset: Int
  }

  /// The farthest end of a spelling that begins at a position; nil if none does.
  ///
  /// - Parameters:
  ///   - isCut: whether a character near the text's end may continue after it.
  ///   - known: the ends of characters found so far: a text may be made so that many spellings of
  ///     many characters begin at each of its positions.
  private func end(
    in text: UnsafeBufferPointer<UInt8>, from start: Int, isCut: Bool,
    _ known: inout [Place: Set<Int>]
  ) -> Int? {
    var ends: Set = [start]
    for character in characters {
      var next: Set<Int> = []
      for offset in ends where offset < text.count {
        if text[offset] < 0x80, !Self.opens(text[offset]) {
          if UInt32(text[offset]) == character.value { next.insert(offset + 1) }
          continue
        }
        let place = Place(character: character, offset: offset)
        let found = known[place] ?? endsAfterLineEnd(of: place, in: text)
        known[place] = found
        next.formUnion(found)
      }
      if isCut, ends.contains(where: { text.count - $0 < Self.longestCharacter }) {
        return text.count
      }
      guard !next.isEmpty else { return nil }
      ends = next
    }
    return ends.max()
  }

  private func endsAfterLineEnd(
    of place: Place, in text: UnsafeBufferPointer<UInt8>
  ) -> Set<Int> {
    var found = ends(of: place.character, at: place.offset, in: text)
    // A line of quoted-printable may end between two characters.
    for lineEnd in Self.lineEnds where text[place.offset...].starts(with: lineEnd) {
      found.formUnion(ends(of: place.character, at: place.offset + lineEnd.count, in: text))
    }
    return found
  }

  private static let lineEnds = [Array("=\r\n".utf8), Array("=\n".utf8)]

  private func ends(
    of character: Unicode.Scalar, at place: Int, in text: UnsafeBufferPointer<UInt8>
  ) -> Set<Int> {
    var found = rightEnds(of: character, at: place, in: text)
    guard !character.isASCII else { return found }
    for decode in Self.wrongDecodings {
      var ends: Set = [place]
      for byte in String(character).utf8 {
        ends = ends.reduce(into: []) {
          $0.formUnion(rightEnds(of: decode(byte), at: $1, in: text))
        }
        if ends.isEmpty { break }
      }
      found.formUnion(ends)
    }
    return found
  }

  /// What a byte of UTF-8 becomes when it is read as Latin-1 or as Windows-1252.
  private static let wrongDecodings: [@Sendable (UInt8) -> Unicode.Scalar] = [
    { Unicode.Scalar($0) },
    { (0x80...0x9f).contains($0) ? windows[Int($0 - 0x80)] : Unicode.Scalar($0) },
  ]

  /// The characters 0x80 to 0x9f of Windows-1252.
  private static let windows = Array(
    "€\u{81}‚ƒ„…†‡ˆ‰Š‹Œ\u{8d}Ž\u{8f}\u{90}‘’“”•–—˜™š›œ\u{9d}žŸ".unicodeScalars)

  /// The ends of a character that was not decoded wrongly.
  private func rightEnds(
    of character: Unicode.Scalar, at place: Int, in text: UnsafeBufferPointer<UInt8>
  ) -> Set<Int> {
    let bytes = Array(String(character).utf8)
    var found = Self.ends(of: bytes, at: place, in: text, Self.depth)
    let isOpen = text.indices.contains(place) && Self.opens(text[place])
    if isOpen, !Self.isWord(character) {
      found.formUnion(Self.entityEnds(at: place, in: text, Self.depth - 1))
    }
    guard !character.isASCII else { return found }
    if isOpen {
      for spelling in escapes[character] ?? [] {
        found.formUnion(Self.ends(of: spelling, at: place, in: text, Self.depth - 1))
      }
    }
    // In Latin-1 it is one byte, or what decoding that as UTF-8 makes of it.
    if let byte = UInt8(exactly: character.value) {
      found.formUnion(Self.ends(of: byte, at: place, in: text, Self.depth))
    }
    found.formUnion(Self.ends(of: Self.unknown, at: place, in: text, 0))
    return found
  }

  /// Maximum length of the names of HTML's entities.
  private static let longestName = 32

  /// The ends of an entity of HTML such as `&uuml;`, whichever character it names.
  private static func entityEnds(
    at place: Int, in text: UnsafeBufferPointer<UInt8>, _ depth: Int
  ) -> Set<Int> {
    ends(of: UInt8(ascii: "&"), at: place, in: text, depth).reduce(into: []) { found, start in
      var end = start
      while end < text.count, end - start < longestName, isWord(Unicode.Scalar(text[end])) {
        end += 1
      }
      guard end > start else { return }
      found.formUnion(ends(of: UInt8(ascii: ";"), at: end, in: text, depth))
    }
  }

  /// Whether a character is a letter or digit of ASCII, which nothing has an entity for.
  private static func isWord(_ character: Unicode.Scalar) -> Bool {
    switch character {
    case "a"..."z", "A"..."Z", "0"..."9": true
    default: false
    }
  }

  /// The character that takes the place of undecodable bytes.
  private static let unknown = Array("\u{fffd}".utf8)

  private static func ends(
    of bytes: [UInt8], at place: Int, in text: UnsafeBufferPointer<UInt8>, _ depth: Int
  ) -> Set<Int> {
    guard depth > 0 else { return Self.end(of: bytes, at: place, in: text).map { [$0] } ?? [] }
    if depth == 1 {
      var found: Set<Int> = []
      addEnds(of: bytes[...], at: place, in: text, to: &found)
      return found
    }
    var ends: Set = [place]
    for byte in bytes {
      ends = ends.reduce(into: Set<Int>()) {
        $0.formUnion(Self.ends(of: byte, at: $1, in: text, depth))
      }
      if ends.isEmpty { break }
    }
    return ends
  }

  /// The end of bytes that are literally there, with any zeros where they may be; nil if they are
  /// not.
  private static func end(
    of bytes: [UInt8], at place: Int, in text: UnsafeBufferPointer<UInt8>
  ) -> Int? {
    var end = place
    for byte in bytes {
      if byte == anyZeros {
        let last = min(text.count, end + mostZeros)
        while end < last, text[end] == UInt8(ascii: "0") { end += 1 }
      } else {
        guard end < text.count, text[end] == byte else { return nil }
        end += 1
      }
    }
    return end
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

  /// Adds every position at which the bytes can end if each is literal or spelled once.
  ///
  /// There are several where a byte opens a spelling of itself.
  private static func addEnds(
    of bytes: ArraySlice<UInt8>, at place: Int, in text: UnsafeBufferPointer<UInt8>,
    to found: inout Set<Int>
  ) {
    guard let byte = bytes.first else {
      found.insert(place)
      return
    }
    guard byte != anyZeros else {
      var ends: Set = [place]
      for _ in 0...mostZeros {
        for end in ends { addEnds(of: bytes.dropFirst(), at: end, in: text, to: &found) }
        ends = ends.reduce(into: []) { addEnds(of: zero, at: $1, in: text, to: &$0) }
        if ends.isEmpty { break }
      }
      return
    }
    guard place < text.count else { return }
    if text[place] == byte { addEnds(of: bytes.dropFirst(), at: place + 1, in: text, to: &found) }
    guard opens(text[place]), maySpellOnce(at: place, in: text) else { return }
    for spelling in spellings[Int(byte)] where spelling[0] == text[place] {
      guard let end = Self.end(of: spelling, at: place, in: text) else { continue }
      addEnds(of: bytes.dropFirst(), at: end, in: text, to: &found)
    }
  }

  // MARK: Whether to look closer

  // A text may consist of nothing but characters that open spellings.

  /// Whether a spelling of depth 1 may begin at a place with a character that opens one.
  private static func maySpellOnce(at place: Int, in text: UnsafeBufferPointer<UInt8>) -> Bool {
    guard text[place] != UInt8(ascii: "+") else { return true }
    guard place + 1 < text.count else { return false }
    return continues(text[place], text[place + 1])
  }

  /// Whether any spelling may begin at a place with a character that opens one.
  private static func maySpell(at place: Int, in text: UnsafeBufferPointer<UInt8>) -> Bool {
    if maySpellOnce(at: place, in: text) { return true }
    // The second character of a spelling is itself spelled.
    let next = place + 1
    return next < text.count && opens(text[next]) && maySpellOnce(at: next, in: text)
  }

  /// Whether a byte may follow the one that opens a spelling.
  private static func continues(_ opening: UInt8, _ byte: UInt8) -> Bool {
    switch opening {
    case UInt8(ascii: "&"): byte == UInt8(ascii: "#") || isWord(Unicode.Scalar(byte))
    // "=" may end a line of quoted-printable.
    case UInt8(ascii: "="): isHexDigit(byte) || byte == 0x0d || byte == 0x0a
    case UInt8(ascii: "%"): isHexDigit(byte)
    default: true
    }
  }

  private static func isHexDigit(_ byte: UInt8) -> Bool {
    switch Unicode.Scalar(byte) {
    case "0"..."9", "a"..."f", "A"..."F": true
    default: false
    }
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

  /// Stands in a spelling for any number of digits 0, up to ``mostZeros``; no spelling, and no UTF-8,
  /// has this byte.
  private static let anyZeros: UInt8 = 0xff
  /// Maximum number of zeros before a number: what pads it to seven digits, or less.
  private static let mostZeros = 6
  private static let zero: ArraySlice<UInt8> = [UInt8(ascii: "0")]

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
    var numbers: [(String, String)] = [("&#", "\(character.value);")]
    for number in Set(digits(character.value, 1)) {
      numbers += [("&#x", "\(number);"), ("&#X", "\(number);"), ("\\u{", "\(number)}")]
    }
    let padded = numbers.map { Array($0.0.utf8) + [anyZeros] + Array($0.1.utf8) }
    let units = String(character).utf16.map { digits(UInt32($0), 4) }
    let pairs = [0, 1].map { form in units.map { "\\u" + $0[form] }.joined() }
    return padded + Set(pairs).map { Array($0.utf8) }
  }

  /// A number's hexadecimal digits, at least so many: in lower and in upper case.
  private static func digits(_ value: UInt32, _ count: Int) -> [String] {
    [false, true].map { isUpper in
      let digits = String(value, radix: 16, uppercase: isUpper)
      return String(repeating: "0", count: max(0, count - digits.count)) + digits
    }
  }
}

/// Scans a line and writes its shape; see ``LineShape``.
struct LineScanner {
  let bytes: [UInt8]
  private(set) var at = 0
  private var out: [UInt8] = []

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  func byte(_ index: Int) -> UInt8 { index < bytes.count ? bytes[index] : 0 }

  mutating func shape() -> [UInt8] {
    while at < bytes.count {
      if skipColour() { continue }
      if byte(at) <= 0x20 || byte(at) == 0x7f {
        if out.last != 0x20 { out.append(0x20) }
        at += 1
      } else if !replaceMask() && !replacePath() && !replaceTime() && !replaceAddress() {
        if Self.isWord(byte(at)) { word() } else { out.append(bytes[at]); at += 1 }
      }
    }
    while out.last == 0x20 { out.removeLast() }
    return out
  }

  mutating func put(_ text: String, to end: Int) -> Bool {
    out += text.utf8
    at = end
    return true
  }

  /// Skips a colour sequence, `ESC [ … letter`.
  private mutating func skipColour() -> Bool {
    guard byte(at) == 0x1b, byte(at + 1) == UInt8(ascii: "[") else { return false }
    at += 2
    while at < bytes.count, !(0x40...0x7e).contains(bytes[at]) { at += 1 }
    at += 1
    return true
  }

  private mutating func replaceMask() -> Bool {
    let start = Array("[REDACTED:".utf8)
    guard byte(at) == start[0], bytes[at...].starts(with: start),
      let end = bytes[at...].firstIndex(of: UInt8(ascii: "]"))
    else { return false }
    out += bytes[at..<end].filter { $0 != UInt8(ascii: "*") } + [UInt8(ascii: "]")]
    at = end + 1
    return true
  }

  private static let temporary = [
    "/tmp/", "/var/tmp/", "/private/tmp/", "/var/folders/", "/private/var/folders/", "/run/user/",
    "/dev/shm/", "/proc/",
  ].map { Array($0.utf8) }
  private static let homes = ["/home/", "/Users/"].map { Array($0.utf8) }

  private mutating func replacePath() -> Bool {
    guard byte(at) == UInt8(ascii: "/") else { return false }
    if Self.temporary.contains(where: bytes[at...].starts) {
      var end = at
      while end < bytes.count, !Self.endsPath(bytes[end]) { end += 1 }
      return put("<tmp>", to: end)
    }
    guard let home = Self.homes.first(where: bytes[at...].starts) else { return false }
    var end = at + home.count
    while end < bytes.count, !Self.endsPath(bytes[end]), bytes[end] != UInt8(ascii: "/") {
      end += 1
    }
    return put("/home/<user>", to: end)
  }

  private static func endsPath(_ byte: UInt8) -> Bool {
    byte <= 0x20 || byte == 0x7f || "\"'`<>()[]{},;:".utf8.contains(byte)
  }

  /// Writes the shape of letters and digits: an id, or a word in which only numbers vary.
  private mutating func word() {
    var end = at
    while end < bytes.count, Self.isWord(bytes[end]) { end += 1 }
    let word = bytes[at..<end]
    let digits = word.count(where: Self.isDigit)
    let isHexID = word.count >= 8 && digits > 0 && word.allSatisfy(Self.isHex)
    let isLongID = word.count >= 16 && digits > 1 && digits < word.count
    if digits < word.count, isHexID || (isLongID && !word.contains(UInt8(ascii: "_"))) {
      _ = put("<id>", to: end)
      return
    }
    while at < end {
      guard Self.isDigit(bytes[at]) else {
        out.append(bytes[at])
        at += 1
        continue
      }
      out += "<n>".utf8
      // 1,024.5 is one number.
      while Self.isDigit(byte(at))
        || (".,".utf8.contains(byte(at)) && Self.isDigit(byte(at + 1)))
      { at += 1 }
    }
  }

  static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

  static func isHex(_ byte: UInt8) -> Bool {
    isDigit(byte) || (0x61...0x66).contains(byte | 0x20)
  }

  /// Whether a byte is part of a word; each byte of a character beyond ASCII is.
  static func isWord(_ byte: UInt8) -> Bool {
    isDigit(byte) || (0x61...0x7a).contains(byte | 0x20) || byte == UInt8(ascii: "_")
      || byte >= 0x80
  }
}

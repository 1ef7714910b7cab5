import SessionLog

/// A line without what differs from one run of a program to the next.
///
/// | in a line | in its shape |
/// |---|---|
/// | `2026-01-22T14:30:05.123Z`, `2026-01-22`, `14:30:05` | `<time>` |
/// | `0x7ffd3a10` | `<addr>` |
/// | `123e4567-e89b-12d3-a456-426614174000` | `<id>` |
/// | `20260122t143005z-k3f9a7c2`, a session | `<id>` |
/// | a word of 8 or more hex digits, one of them 0 to 9 | `<id>` |
/// | a word of 16 or more letters and digits | `<id>` |
/// | `10.0.0.7:8080` | `<ip>` |
/// | `/tmp/a8s7d6/x.sock`, `/run/user/1000/bus` | `<tmp>` |
/// | `/home/anna/x`, `/Users/anna/x` | `/home/<user>/x` |
/// | `42`, `1,024.5`, and the digits of `worker12` | `<n>` |
/// | `[REDACTED:email*****]` | `[REDACTED:email]` |
/// | white space, colours | one blank, nothing |
enum LineShape {
  /// More of a line does not count.
  private static let longest = 300

  /// The shape of a line.
  static func of(_ line: some StringProtocol) -> String {
    var scanner = Scanner(Array(line.utf8.prefix(4096)))
    let shape = scanner.shape()
    return String(decoding: shape, as: UTF8.self).prefix(longest)
      .trimmingPrefix { $0 == " " }.description
  }

  private struct Scanner {
    private let bytes: [UInt8]
    private var at = 0
    private var out: [UInt8] = []

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    private func byte(_ index: Int) -> UInt8 { index < bytes.count ? bytes[index] : 0 }

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

    private mutating func put(_ text: String, to end: Int) -> Bool {
      out += text.utf8
      at = end
      return true
    }

    /// `ESC [ … letter`.
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

    /// The end of digits in groups: `dddd-dd-dd`, `dd:dd:dd`; nil where they are not there.
    private func digits(_ groups: [Int], by separator: UInt8, from start: Int) -> Int? {
      var index = start
      for (number, count) in groups.enumerated() {
        if number > 0 {
          guard byte(index) == separator else { return nil }
          index += 1
        }
        for _ in 0..<count {
          guard Self.isDigit(byte(index)) else { return nil }
          index += 1
        }
      }
      return index
    }

    private mutating func replaceTime() -> Bool {
      guard Self.isDigit(byte(at)), at == 0 || !Self.isWord(bytes[at - 1]) else { return false }
      let date =
        digits([4, 2, 2], by: UInt8(ascii: "-"), from: at)
        ?? digits([4, 2, 2], by: UInt8(ascii: "/"), from: at)
      var end = date ?? clock(from: at)
      if let date, "T t_".utf8.contains(byte(date)) { end = clock(from: date + 1) ?? date }
      guard let end, !Self.isDigit(byte(end)) else { return false }
      return put("<time>", to: end)
    }

    /// `hh:mm:ss`, with a fraction and a zone.
    private func clock(from start: Int) -> Int? {
      guard var end = digits([2, 2, 2], by: UInt8(ascii: ":"), from: start) else { return nil }
      if ".,".utf8.contains(byte(end)), Self.isDigit(byte(end + 1)) {
        end += 1
        while Self.isDigit(byte(end)) { end += 1 }
      }
      if byte(end) == UInt8(ascii: "Z") { return end + 1 }
      if "+-".utf8.contains(byte(end)) {
        return digits([2, 2], by: UInt8(ascii: ":"), from: end + 1) ?? digits(
          [4], by: 0, from: end + 1)
          ?? end
      }
      return end
    }

    /// UUIDs, addresses in memory and of the network.
    private mutating func replaceAddress() -> Bool {
      guard at == 0 || !Self.isWord(bytes[at - 1]) else { return false }
      if byte(at) == UInt8(ascii: "0"), byte(at + 1) | 0x20 == UInt8(ascii: "x"),
        Self.isHex(byte(at + 2))
      {
        var end = at + 2
        while Self.isHex(byte(end)) { end += 1 }
        return put("<addr>", to: end)
      }
      if let end = uuid() ?? session() { return put("<id>", to: end) }
      guard var end = network() else { return false }
      if byte(end) == UInt8(ascii: ":"), Self.isDigit(byte(end + 1)) {
        end += 1
        while Self.isDigit(byte(end)) { end += 1 }
      }
      return put("<ip>", to: end)
    }

    private func uuid() -> Int? {
      var index = at
      for (number, count) in [8, 4, 4, 4, 12].enumerated() {
        if number > 0 {
          guard byte(index) == UInt8(ascii: "-") else { return nil }
          index += 1
        }
        for _ in 0..<count {
          guard Self.isHex(byte(index)) else { return nil }
          index += 1
        }
      }
      return Self.isWord(byte(index)) ? nil : index
    }

    private func session() -> Int? {
      guard byte(at + 8) | 0x20 == UInt8(ascii: "t"), at + 25 <= bytes.count,
        SessionID(String(decoding: bytes[at..<at + 25], as: UTF8.self)) != nil
      else { return nil }
      return Self.isWord(byte(at + 25)) ? nil : at + 25
    }

    private func network() -> Int? {
      var index = at
      for number in 0..<4 {
        if number > 0 {
          guard byte(index) == UInt8(ascii: ".") else { return nil }
          index += 1
        }
        let start = index
        while Self.isDigit(byte(index)), index - start < 3 { index += 1 }
        guard index > start else { return nil }
      }
      return Self.isWord(byte(index)) || byte(index) == UInt8(ascii: ".") ? nil : index
    }

    /// Letters and digits: an id, or a word in which only the numbers change.
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

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

    private static func isHex(_ byte: UInt8) -> Bool {
      isDigit(byte) || (0x61...0x66).contains(byte | 0x20)
    }

    /// Also each byte of a character beyond ASCII.
    private static func isWord(_ byte: UInt8) -> Bool {
      isDigit(byte) || (0x61...0x7a).contains(byte | 0x20) || byte == UInt8(ascii: "_")
        || byte >= 0x80
    }
  }
}

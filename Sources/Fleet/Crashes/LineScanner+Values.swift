import SessionLog

/// Recognizes times, ids and addresses.
extension LineScanner {
  /// The end of digits in groups, `dddd-dd-dd` or `dd:dd:dd`; nil without them.
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

  mutating func replaceTime() -> Bool {
    guard Self.isDigit(byte(at)), at == 0 || !Self.isWord(bytes[at - 1]) else { return false }
    let date =
      digits([4, 2, 2], by: UInt8(ascii: "-"), from: at)
      ?? digits([4, 2, 2], by: UInt8(ascii: "/"), from: at)
    var end = date ?? clock(from: at)
    if let date, "T t_".utf8.contains(byte(date)) { end = clock(from: date + 1) ?? date }
    guard let end, !Self.isDigit(byte(end)) else { return false }
    return put("<time>", to: end)
  }

  /// The end of `hh:mm:ss`, with an optional fraction and zone.
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

  /// Replaces a UUID, a memory address or a network address.
  mutating func replaceAddress() -> Bool {
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
}

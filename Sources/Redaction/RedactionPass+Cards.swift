extension RedactionPass {
  private static let digits = ByteSet("0-9")
  private static let members = ByteSet("0-9 -")
  /// Possible numbers of digits.
  private static let length = 13...19

  /// Finds card numbers: 13 to 19 digits, with single blanks or hyphens between them, that pass
  /// Luhn's test.
  ///
  /// A number has at least 13 bytes, so checking every thirteenth finds all.
  mutating func findCards(in range: Range<Int>, _ rule: Int) {
    var position = range.lowerBound
    var done = range.lowerBound
    while position < min(range.upperBound + Self.length.lowerBound, text.count) {
      guard Self.members.contains(text[position]) else {
        position += Self.length.lowerBound
        continue
      }
      var start = position
      while start > done, Self.members.contains(text[start - 1]) { start -= 1 }
      while start < text.count, Self.members.contains(text[start]) {
        if Self.digits.contains(text[start]),
          start == 0 || !Self.digits.contains(text[start - 1]), range.contains(start)
        {
          if let end = cardEnd(from: start) { add(start..<end, rule) }
        }
        start += 1
      }
      done = start
      position = max(start, position + 1)
    }
  }

  /// End of the longest card number that begins at a position; nil without one.
  private func cardEnd(from start: Int) -> Int? {
    guard (UInt8(ascii: "2")...UInt8(ascii: "6")).contains(text[start]) else { return nil }
    var digits: [Int] = []
    var found: Int?
    var position = start
    while position < text.count, digits.count < Self.length.upperBound {
      if Self.digits.contains(text[position]) {
        digits.append(Int(text[position] - UInt8(ascii: "0")))
        let isLast = position + 1 == text.count || !Self.digits.contains(text[position + 1])
        if isLast, Self.length.contains(digits.count), Self.passes(digits) { found = position + 1 }
      } else {
        let isSingle =
          Self.members.contains(text[position]) && position + 1 < text.count
          && Self.digits.contains(text[position + 1])
        guard isSingle else { break }
      }
      position += 1
    }
    return found
  }

  private static func passes(_ digits: [Int]) -> Bool {
    let sum = digits.reversed().enumerated().reduce(0) { sum, digit in
      let doubled = digit.element * (digit.offset % 2 + 1)
      return sum + (doubled > 9 ? doubled - 9 : doubled)
    }
    return sum % 10 == 0 && digits.contains { $0 != 0 }
  }
}

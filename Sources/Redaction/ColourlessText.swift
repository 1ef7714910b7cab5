import LogRecords

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Lines of a text without the sequences that set colours (SGR, ECMA-48, section 8.3.117), and where
/// each of their bytes stands in the text.
///
/// Where a line has none, it is left out.
struct ColourlessText {
  private(set) var bytes: [UInt8] = []
  /// Where stretches begin that stand together in both texts: here, and there.
  private var stretches: [(here: Int, there: Int)] = []

  private static let escape: UInt8 = 0x1b
  /// Parameters of a sequence are no longer, in bytes.
  private static let longestParameters = 32

  /// - Parameters:
  ///   - text: the text.
  ///   - range: a part of it that begins and ends where lines do, or where a look must.
  init(_ text: UnsafeRawBufferPointer, _ range: Range<Int>) {
    var position = range.lowerBound
    while let escape = Self.find(Self.escape, in: text, position..<range.upperBound) {
      var start = escape
      while start > position, text[start - 1] != 0x0a { start -= 1 }
      let end = Self.find(0x0a, in: text, escape..<range.upperBound).map { $0 + 1 }
      position = end ?? range.upperBound
      append(text, start..<position, firstEscape: escape)
    }
  }

  private static func find(
    _ byte: UInt8, in text: UnsafeRawBufferPointer, _ range: Range<Int>
  ) -> Int? {
    guard !range.isEmpty, let base = text.baseAddress,
      let found = memchr(base + range.lowerBound, Int32(byte), range.count)
    else { return nil }
    return UnsafeRawPointer(found) - base
  }

  private mutating func append(
    _ text: UnsafeRawBufferPointer, _ line: Range<Int>, firstEscape: Int
  ) {
    var start = line.lowerBound
    var escape = Int?.some(firstEscape)
    while let place = escape {
      let end = Self.sequenceEnd(at: place, in: text, line.upperBound)
      append(text, start..<(end == nil ? place + 1 : place))
      start = end ?? place + 1
      escape = Self.find(Self.escape, in: text, start..<line.upperBound)
    }
    append(text, start..<line.upperBound)
  }

  private mutating func append(_ text: UnsafeRawBufferPointer, _ part: Range<Int>) {
    guard !part.isEmpty else { return }
    stretches.append((bytes.count, part.lowerBound))
    bytes += UnsafeRawBufferPointer(rebasing: text[part])
  }

  /// Where a sequence ends that begins at a place, also one that the text ends in the middle of; nil
  /// where none begins.
  private static func sequenceEnd(
    at start: Int, in text: UnsafeRawBufferPointer, _ limit: Int
  ) -> Int? {
    var end = start + 1
    guard end < limit else { return end == text.count ? end : nil }
    guard text[end] == UInt8(ascii: "[") else { return nil }
    end += 1
    let last = min(limit, end + longestParameters)
    while end < last, (UInt8(ascii: "0")...UInt8(ascii: ";")).contains(text[end]) { end += 1 }
    guard end < limit else { return end == text.count ? end : nil }
    return text[end] == UInt8(ascii: "m") ? end + 1 : nil
  }

  /// Where a byte stands in the text; its end is where the last one ends.
  func place(of here: Int) -> Int {
    guard let index = stretch(here) else { return here }
    return stretches[index].there + here - stretches[index].here
  }

  /// What a range of bytes takes in the text, with the sequences between them.
  func range(of here: Range<Int>) -> Range<Int> {
    guard !here.isEmpty else { return 0..<0 }
    return place(of: here.lowerBound)..<place(of: here.upperBound - 1) + 1
  }

  /// Where the bytes end that an anchor decides about: sequences count as far as it reaches.
  func limit(from anchor: Int) -> Int {
    let reach = place(of: anchor) + RedactionPass.reach
    var (low, high) = (anchor, anchor + RedactionPass.reach)
    guard place(of: min(high, bytes.count)) > reach else { return high }
    while low < high {
      let middle = (low + high) / 2
      if middle <= bytes.count, place(of: middle) < reach {
        low = middle + 1
      } else {
        high = middle
      }
    }
    return low
  }

  /// The stretch that a byte is in.
  private func stretch(_ here: Int) -> Int? {
    var (low, high) = (0, stretches.count)
    while low < high {
      let middle = (low + high) / 2
      if stretches[middle].here <= here { low = middle + 1 } else { high = middle }
    }
    return low > 0 ? low - 1 : nil
  }
}

extension RedactionPass {
  /// Looks for anchors that begin in a range of the text, as if its coloured lines had no colours.
  ///
  /// Only rules that are steps are tried.
  mutating func lookThroughColours(in range: Range<Int>) {
    let first = range.lowerBound - rules.longestBefore
    let start = lineStart(of: range.lowerBound, notBefore: first) ?? max(0, first)
    let end = lineEnd(of: range.upperBound, notAfter: range.upperBound + Self.reach)
    let colourless = ColourlessText(text, start..<min(text.count, end + 1))
    guard !colourless.bytes.isEmpty else { return }
    colourless.bytes.withUnsafeBytes { bytes in
      var pass = RedactionPass(rules, bytes, at: 0, .asIs, of: colourless)
      rules.scan(bytes, bytes.indices) { rule, anchor in
        guard case .steps(let steps) = rules.ways[rule],
          range.contains(colourless.place(of: anchor.lowerBound))
        else { return }
        pass.take(steps, rule, anchor)
      }
      for match in pass.matches { add(colourless.range(of: match.range), match.rule) }
    }
  }
}

import LogRecords

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Lines of a text without the sequences that set colours (SGR, ECMA-48, section 8.3.117), with the
/// original position of each byte.
///
/// Lines without such sequences are omitted.
struct ColourlessText {
  private(set) var bytes: [UInt8] = []
  /// Starts of runs that are contiguous in both texts: here, and in the original.
  private var runs: [(here: Int, there: Int)] = []

  private static let escape: UInt8 = 0x1b
  /// Maximum length of a sequence's parameters, in bytes.
  private static let longestParameters = 32

  /// - Parameters:
  ///   - text: the text.
  ///   - range: a part of it that begins and ends at line boundaries, or at the limits of a pass.
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
    runs.append((bytes.count, part.lowerBound))
    bytes += UnsafeRawBufferPointer(rebasing: text[part])
  }

  /// End of a sequence that begins at a position, even if the text ends within it; nil if none
  /// begins.
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

  /// The original position of a byte; its end maps to the end of the last byte.
  func place(of here: Int) -> Int {
    guard let index = run(here) else { return here }
    return runs[index].there + here - runs[index].here
  }

  /// The original range of some bytes, including the sequences between them.
  func range(of here: Range<Int>) -> Range<Int> {
    guard !here.isEmpty else { return 0..<0 }
    return place(of: here.lowerBound)..<place(of: here.upperBound - 1) + 1
  }

  /// End of the bytes that an anchor can affect; sequences count towards its reach.
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

  /// The run that contains a byte.
  private func run(_ here: Int) -> Int? {
    var (low, high) = (0, runs.count)
    while low < high {
      let middle = (low + high) / 2
      if runs[middle].here <= here { low = middle + 1 } else { high = middle }
    }
    return low > 0 ? low - 1 : nil
  }
}

extension RedactionPass {
  /// Finds anchors that begin in a range of the text, ignoring the colours of its lines.
  ///
  /// Only rules made of steps are tried.
  mutating func scanIgnoringColours(in range: Range<Int>) {
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
        pass.apply(steps, rule, anchor)
      }
      for match in pass.matches { add(colourless.range(of: match.range), match.rule) }
    }
  }
}

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A private key's header line whose following lines have not been looked at yet.
struct KeyBlock {
  /// Where the last such header in a line begins, where that line ends, and its rule.
  var pending: (start: Int, lineEnd: Int, rule: Int)?
  /// Where the line begins after which the text ends without the key's end.
  var openLine: Int?
  /// The footer after a place, as far as it was looked for.
  var footer = (from: 0, to: 0, at: Int?.none)
}

/// Private keys: what follows a `BEGIN … PRIVATE KEY` in its line up to the `END`, and the lines
/// after it that look like a key's.
///
/// These may stand in quotes, in JSON or after a time. Other programs' lines may stand between them;
/// three in a row are passed over.
extension RedactionPass {
  private static let label = ByteSet("A-Z0-9 ")
  private static let base64 = ByteSet("A-Za-z0-9+/=")
  /// With the backslashes of a text in quotes.
  private static let quotedBase64 = ByteSet("A-Za-z0-9+/=\\")
  private static let around = ByteSet(" \t\r\"'`,;>|")
  private static let footer = Array("-----END".utf8)
  private static let header = Array("-----BEGIN".utf8)
  private static let fields = [
    "Proc-Type:", "DEK-Info:", "Version:", "Comment:", "Hash:", "Charset:",
  ].map { Array($0.utf8) }
  /// From this length on nothing else looks like a line of a key, in bytes.
  private static let surely = 40
  /// A longer line is none of a key's, in bytes.
  private static let longestLine = 4096
  /// Foreign lines that may stand in a key, one after the other.
  private static let foreignLines = 3

  /// - Parameters:
  ///   - start: where the anchor, `-----BEGIN `, stands.
  ///   - length: the anchor's.
  mutating func keyBlock(at start: Int, _ length: Int, _ rule: Int) {
    guard let header = headerEnd(from: start + length) else { return }
    let limit = start + Self.reach
    let lineEnd = lineEnd(of: header, notAfter: limit)
    let footer = footer(in: header..<lineEnd)
    var rest = header..<(footer ?? lineEnd)
    while let last = rest.last, Self.around.contains(text[last]) { rest = rest.dropLast() }
    add(rest, rule)
    if footer != nil { return }
    if let pending = block.pending, pending.lineEnd != lineEnd { closeBlock() }
    // Of two in one line the later one reaches farther.
    block.pending = (start, lineEnd, rule)
  }

  /// Where a header or footer ends that begins at a place, as far as no mask may hide it: it tells
  /// what the lines around it are.
  static func fenceEnd(at start: Int, in text: UnsafeRawBufferPointer) -> Int? {
    guard text[start] == UInt8(ascii: "-") else { return nil }
    for fence in [header, footer] where start + fence.count <= text.count {
      if text[start..<start + fence.count].elementsEqual(fence) { return start + fence.count }
    }
    return nil
  }

  /// Where a header or footer ends, as far as no mask may hide it, that a place stands in.
  static func fenceEnd(around place: Int, in text: UnsafeRawBufferPointer) -> Int? {
    (max(0, place - header.count + 1)..<place).lazy
      .compactMap { fenceEnd(at: $0, in: text) }.first { $0 > place }
  }

  /// Where a header ends that is a private key's.
  private func headerEnd(from start: Int) -> Int? {
    var end = start
    while end < min(text.count, start + 64), Self.label.contains(text[end]) { end += 1 }
    guard text.count - end >= 5, text[end..<end + 5].allSatisfy({ $0 == UInt8(ascii: "-") })
    else { return nil }
    let label = text[start..<end]
    let isPrivate = ["PRIVATE KEY", "PRIVATE KEY BLOCK"].contains {
      label.suffix($0.utf8.count).elementsEqual($0.utf8)
    }
    return isPrivate ? end + 5 : nil
  }

  /// The first footer in a part of a line, each stretch being searched once.
  private mutating func footer(in range: Range<Int>) -> Int? {
    var from = range.lowerBound
    let known = block.footer
    if known.from <= from, from < known.to {
      if let at = known.at, from <= at { return at < range.upperBound ? at : nil }
      // It may have begun where the search ended.
      if known.at == nil { from = max(from, known.to - Self.footer.count) }
    }
    let found = find(Self.footer, in: min(from, range.upperBound)..<range.upperBound)
    block.footer = (range.lowerBound, max(known.to, range.upperBound), found)
    return found
  }

  private func find(_ word: [UInt8], in range: Range<Int>) -> Int? {
    guard let base = text.baseAddress else { return nil }
    var start = range.lowerBound
    while start + word.count <= range.upperBound,
      let dash = memchr(base + start, Int32(word[0]), range.upperBound - start)
    {
      start = UnsafeRawPointer(dash) - base
      let end = start + word.count
      if end <= range.upperBound, text[start..<end].elementsEqual(word) { return start }
      start += 1
    }
    return nil
  }

  /// Looks at the lines that follow the pending header.
  mutating func closeBlock() {
    guard let (start, lineEnd, rule) = block.pending else { return }
    block.pending = nil
    let limit = start + Self.reach
    var foreign = 0
    var isTorn = false
    var isCut = false
    var surroundings: Surroundings?
    var line = lineEnd + 1
    while line < min(text.count, limit) {
      let end = self.lineEnd(of: line, notAfter: line + Self.longestLine)
      isCut = end == text.count
      let content = min(end, prefix(ofLineAt: line).end)
      switch keyLine(content..<end, isTorn, surroundings) {
      case .key(let parts):
        for part in parts { add(part.clamped(to: line..<max(line, limit)), rule) }
        surroundings = parts.last.map { Surroundings(of: $0, in: content..<end, text) }
        foreign = 0
      case .blank: break
      case .end: return
      case .foreign:
        foreign += 1
        isTorn = true
        // What is cut may go on as a key's line does.
        guard foreign <= Self.foreignLines || isCut else { return }
      }
      line = self.lineEnd(of: end, notAfter: limit) + 1
    }
    if line < limit || isCut {
      block.openLine =
        block.openLine ?? lineStart(of: start, notBefore: start - Self.reach) ?? start
    }
  }

  private enum KeyLine {
    /// What of it is the key's; in each line something is.
    case key([Range<Int>])
    case blank
    case foreign
    case end
  }

  /// What stands beside the key in one of its lines: the same as in its last one, which is shorter.
  private struct Surroundings: Equatable {
    let column: Int
    let before: UInt8?
    let after: [UInt8]

    init(of part: Range<Int>, in line: Range<Int>, _ text: UnsafeRawBufferPointer) {
      column = part.lowerBound - line.lowerBound
      before = column > 0 ? text[part.lowerBound - 1] : nil
      after = Array(text[part.upperBound..<min(line.upperBound, part.upperBound + 4)])
    }
  }

  private func keyLine(
    _ line: Range<Int>, _ isTorn: Bool, _ surroundings: Surroundings?
  ) -> KeyLine {
    guard line.count < Self.longestLine else { return .foreign }
    if find(Self.footer, in: line) != nil || find(Self.header, in: line) != nil { return .end }
    var rest = line
    while let first = rest.first, Self.around.contains(text[first]) { rest = rest.dropFirst() }
    while let last = rest.last, Self.around.contains(text[last]) { rest = rest.dropLast() }
    if rest.isEmpty { return .blank }
    if !isTorn {
      if text[rest].allSatisfy(Self.base64.contains) { return .key([rest]) }
      if Self.fields.contains(where: { text[rest].starts(with: $0) }) { return .key([rest]) }
    }
    var parts: [Range<Int>] = []
    var start = rest.lowerBound
    while start < rest.upperBound {
      var end = start
      while end < rest.upperBound, Self.quotedBase64.contains(text[end]) { end += 1 }
      let run = start..<end
      let isLike = !run.isEmpty && surroundings == Surroundings(of: run, in: line, text)
      if isLike || run.count >= Self.surely { parts.append(run) }
      start = end + 1
    }
    return parts.isEmpty ? .foreign : .key(parts)
  }
}

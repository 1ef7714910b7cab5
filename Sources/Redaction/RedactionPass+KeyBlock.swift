#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A private key's header line whose following lines have not been examined yet.
struct KeyBlock {
  /// Start of the last such header in a line, the end of that line, and its rule.
  var pending: (start: Int, lineEnd: Int, rule: Int)?
  /// Start of the line after which the text ends before the key does.
  var openLine: Int?
  /// The next footer after a position, as far as it was searched.
  var footer = (from: 0, to: 0, at: Int?.none)
  /// Headers that are to be examined without terminal sequences.
  var headers: Set<Int> = []
}

/// Masks private keys: everything from `BEGIN … PRIVATE KEY` to `END` in a line, and the following
/// lines that look like a key's.
///
/// These may be in quotes, in JSON or after a time. Lines of other programs may be between them, up
/// to three in a row after the header and 64 after the first line of the key.
extension RedactionPass {
  private static let label = ByteSet("A-Z0-9 ")
  private static let base64 = ByteSet("A-Za-z0-9+/=")
  /// With the backslashes of quoted text.
  private static let quotedBase64 = ByteSet("A-Za-z0-9+/=\\")
  private static let around = ByteSet(" \t\r\"'`,;>|")
  /// What may follow a header or footer that ends its line.
  private static let closing = ByteSet(" \t\r\"'`,;>|\\n)]}")
  private static let quotes = ByteSet("\"'`")
  private static let blank = ByteSet(" \t")
  /// What precedes a quoted value.
  private static let opening = ByteSet(":=,[({")
  private static let dashes = Array("-----".utf8)
  private static let footer = Array("-----END".utf8)
  private static let header = Array("-----BEGIN".utf8)
  private static let fields = [
    "Proc-Type:", "DEK-Info:", "Version:", "Comment:", "Hash:", "Charset:",
  ].map { Array($0.utf8) }
  /// The length from which a line can only be a key's, in bytes.
  private static let surely = 40
  /// Maximum length of a key's line, in bytes.
  private static let longestLine = 4096
  /// Maximum number of consecutive foreign lines after a header.
  private static let foreignLines = 3
  /// The same after a line of the key: a later one cannot be mistaken.
  private static let foreignLinesWithin = 64
  /// Maximum number of headers after one whose key has not ended: so often is a line examined, and once
  /// more, at most.
  private static let mostHeaders = 6

  /// - Parameters:
  ///   - start: position of the anchor, `-----BEGIN `.
  ///   - length: the anchor's length.
  mutating func keyBlock(at start: Int, _ length: Int, _ rule: Int) {
    guard let header = headerEnd(from: start + length) else { return }
    if bare == nil, rules.ignored == .all { block.headers.insert(start) }
    let limit = limit(from: start)
    let lineEnd = lineEnd(of: header, notAfter: limit)
    let footer = footer(in: header..<lineEnd)
    var rest = header..<(footer ?? lineEnd)
    while let last = rest.last, Self.around.contains(text[last]) { rest = rest.dropLast() }
    add(rest, rule)
    if footer != nil { return }
    if let pending = block.pending, pending.lineEnd != lineEnd { closeBlock() }
    // The later of two in one line extends further.
    block.pending = (start, lineEnd, rule)
  }

  /// End of the part of a header or footer, beginning at a position, that must not be masked,
  /// because it identifies the lines around it.
  static func fenceEnd(at start: Int, in text: UnsafeRawBufferPointer) -> Int? {
    guard text[start] == UInt8(ascii: "-") else { return nil }
    for fence in [header, footer] where start + fence.count <= text.count {
      if text[start..<start + fence.count].elementsEqual(fence) { return start + fence.count }
    }
    return nil
  }

  /// End of that part of a header or footer that contains a position.
  static func fenceEnd(around place: Int, in text: UnsafeRawBufferPointer) -> Int? {
    (max(0, place - header.count + 1)..<place).lazy
      .compactMap { fenceEnd(at: $0, in: text) }.first { $0 > place }
  }

  /// End of a private key's header or footer, whose label begins at a position.
  func headerEnd(from start: Int) -> Int? {
    let label = label(from: start)
    guard endsFence(label) else { return nil }
    let isPrivate = ["PRIVATE KEY", "PRIVATE KEY BLOCK"].contains {
      text[label].suffix($0.utf8.count).elementsEqual($0.utf8)
    }
    return isPrivate ? label.upperBound + Self.dashes.count : nil
  }

  /// Where the label of a header or footer is, such as `RSA PRIVATE KEY`, which begins at a position.
  private func label(from position: Int) -> Range<Int> {
    let start = min(position, text.count)
    let end = text[start...].prefix(64).firstIndex { !Self.label.contains($0) }
    return start..<(end ?? min(start + 64, text.count))
  }

  /// Whether the dashes that end a header or footer follow a label.
  private func endsFence(_ label: Range<Int>) -> Bool {
    text[label.upperBound...].starts(with: Self.dashes)
  }

  /// The first footer in a part of a line; each byte is searched once.
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

  /// Examines the lines that follow the pending header.
  mutating func closeBlock() {
    guard let (start, lineEnd, rule) = block.pending else { return }
    block.pending = nil
    let limit = limit(from: start)
    // The keys that have begun and not ended: the last one ends first.
    var labels = [label(from: start + Self.header.count + 1)]
    var headers = 0
    let first = lineStart(of: start, notBefore: start - Self.reach)
      .map { min(start, prefix(ofLineAt: $0).end) }
    let column = first.map { start - $0 }
    let before = textBefore(start, in: first ?? 0)
    var foreign = 0
    var isTorn = false
    var isCut = false
    var surroundings: Surroundings?
    var line = lineEnd + 1
    while line < min(text.count, limit) {
      let end = self.lineEnd(of: line, notAfter: line + Self.longestLine)
      isCut = end == text.count && bare?.endsWithText ?? true
      let content = min(end, prefix(ofLineAt: line).end)
      var isForeign = false
      switch keyLine(content..<end, isTorn, surroundings, column) {
      case .key(let parts):
        for part in parts { add(part.clamped(to: line..<max(line, limit)), rule) }
        surroundings = parts.last.map { Surroundings(of: $0, in: content..<end, text) }
        foreign = 0
      case .blank: break
      case .fences(let fences):
        let closing: Int?
        (isForeign, closing) = meet(fences, &labels, after: before, in: content..<end, isCut)
        let parts = parts(in: content..<end, before: closing, surroundings, column)
        for part in parts { add(part.clamped(to: line..<max(line, limit)), rule) }
        if let last = parts.last {
          surroundings = Surroundings(of: last, in: content..<end, text)
          (isForeign, foreign) = (false, 0)
        }
        if fences.last?.isFooter == false { headers += 1 }
        if labels.isEmpty || rules.engine >= 5 && headers > Self.mostHeaders { return }
      case .foreign: isForeign = true
      }
      if isForeign {
        foreign += 1
        isTorn = true
        // A truncated line may continue like a key's line.
        let isWithin = rules.engine >= 4 && surroundings != nil
        let most = isWithin ? Self.foreignLinesWithin : Self.foreignLines
        guard foreign <= most || isCut else { return }
      }
      line = self.lineEnd(of: end, notAfter: limit) + 1
    }
    if line < limit || isCut {
      block.openLine =
        block.openLine ?? lineStart(of: start, notBefore: start - Self.reach) ?? start
    }
  }

  /// Opens and ends keys as the headers and footers of a line say.
  ///
  /// A sentence may mention them: a key's own ends its line, is the value of a field, or follows the same
  /// text as the key's header.
  ///
  /// - Parameters:
  ///   - before: the text before that header.
  ///   - isCut: whether the text ends within the line, so that more of it may change what they mean.
  /// - Returns: whether none of them is a key's, and where the one begins that ends the last key.
  private func meet(
    _ fences: [Fence], _ labels: inout [Range<Int>], after before: Slice<UnsafeRawBufferPointer>,
    in line: Range<Int>, _ isCut: Bool
  ) -> (isForeign: Bool, closing: Int?) {
    guard rules.engine < 5 || !isCut else { return (true, nil) }
    var isForeign = true
    for fence in fences
    where rules.engine < 5 || isOfKey(fence.place, in: line)
      || textBefore(fence.place.lowerBound, in: line.lowerBound).elementsEqual(before)
    {
      if !fence.isFooter {
        labels.append(fence.label)
        isForeign = false
      } else if let last = labels.last,
        rules.engine < 5 || text[last].elementsEqual(text[fence.label])
      {
        labels.removeLast()
        isForeign = false
      }
      if labels.isEmpty { return (isForeign, fence.place.lowerBound) }
    }
    return (isForeign, nil)
  }

  /// What a key has in a line with headers or footers: what can only be a key's, and what precedes one
  /// where a key's lines have their text, or without anything between, as if a line break were missing.
  ///
  /// - Parameter closing: where the footer begins that ends the key; what follows is not its own.
  private func parts(
    in line: Range<Int>, before closing: Int?, _ surroundings: Surroundings?, _ column: Int?
  ) -> [Range<Int>] {
    guard rules.engine >= 6 else { return [] }
    return parts(in: line.lowerBound..<(closing ?? line.upperBound)) {
      isLast($0, in: line, before: closing, follows: $1, surroundings, column)
    }
  }

  /// The runs of base64, quoted or not, in a part of a line that are a key's: those so long that they can
  /// only be one's, and others that a closure takes.
  ///
  /// - Parameter isLike: whether a shorter run is a key's, given whether another one precedes it.
  private func parts(
    in range: Range<Int>, where isLike: (_ run: Range<Int>, _ follows: Bool) -> Bool
  ) -> [Range<Int>] {
    var parts: [Range<Int>] = []
    var start = range.lowerBound
    while start < range.upperBound {
      var end = start
      while end < range.upperBound, Self.quotedBase64.contains(text[end]) { end += 1 }
      let run = start..<end
      if run.count >= Self.surely || !run.isEmpty && isLike(run, !parts.isEmpty) {
        parts.append(run)
      }
      start = end + 1
    }
    return parts
  }

  /// Whether text before a header or footer is the last of a key.
  ///
  /// - Parameter follows: whether other text of the key is before it in the line.
  private func isLast(
    _ run: Range<Int>, in line: Range<Int>, before closing: Int?, follows: Bool,
    _ surroundings: Surroundings?, _ column: Int?
  ) -> Bool {
    var next = run.upperBound
    while next < line.upperBound, Self.around.contains(text[next]) { next += 1 }
    guard next == closing || isFence(at: next, in: line) else { return false }
    let between = text[run.upperBound..<next]
    // A sentence may mention them.
    guard next == closing || !between.contains(where: Self.blank.contains) else { return false }
    let place = run.lowerBound - line.lowerBound
    let isSequence =
      place > 1 && text[run.lowerBound - 2] == 0x1b && text[run.lowerBound - 1] == UInt8(ascii: "[")
    guard !isSequence else { return false }
    // Text that is masked already must not make more of a line a key's.
    return between.isEmpty || follows || place == column || place == surroundings?.column
  }

  /// A few bytes before a position in its line.
  private func textBefore(_ place: Int, in start: Int) -> Slice<UnsafeRawBufferPointer> {
    text[max(start, place - 4)..<place]
  }

  private enum KeyLine {
    /// The ranges that belong to the key, at least one in each line.
    case key([Range<Int>])
    case blank
    case foreign
    /// Headers and footers; some may belong to a key.
    case fences([Fence])
  }

  /// A header or footer of a private key.
  private struct Fence {
    let isFooter: Bool
    let place: Range<Int>
    /// Where its label is, such as `RSA PRIVATE KEY`.
    let label: Range<Int>
  }

  /// The text around the key in one of its lines: it is the same in the last one, which is shorter.
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

  /// The headers and footers of private keys in a line; nil if it has neither these nor any others.
  ///
  /// Those of certificates and public keys are other programs', and so is a key that begins and ends in
  /// the line. Engines before the fourth took each for the end, the fourth the first footer, or else a
  /// header.
  private func fences(in line: Range<Int>) -> [Fence]? {
    guard rules.engine >= 5 else { return firstFence(in: line) }
    guard find(Self.dashes, in: line) != nil else { return nil }
    var (found, isAny): ([Fence], Bool) = ([], false)
    var from = line.lowerBound
    while let at = find(Self.dashes, in: from..<line.upperBound) {
      from = at + 1
      guard let end = Self.fenceEnd(at: at, in: text), end <= line.upperBound else { continue }
      isAny = true
      guard let labelEnd = headerEnd(from: end + 1), labelEnd <= line.upperBound else { continue }
      let isFooter = end - at == Self.footer.count
      if isFooter, found.last?.isFooter == false {
        found.removeLast()
      } else {
        let label = end + 1..<labelEnd - Self.dashes.count
        found.append(Fence(isFooter: isFooter, place: at..<labelEnd, label: label))
      }
      from = labelEnd
    }
    return isAny ? found : nil
  }

  /// The one header or footer that counts by an engine before the fifth.
  private func firstFence(in line: Range<Int>) -> [Fence]? {
    var found: [Fence]?
    for word in [Self.footer, Self.header] {
      var from = line.lowerBound
      while let at = find(word, in: from..<line.upperBound) {
        let isFooter = rules.engine < 4 || word == Self.footer
        let fence = Fence(isFooter: isFooter, place: at..<at, label: at..<at)
        guard rules.engine >= 4, headerEnd(from: at + word.count + 1) == nil else { return [fence] }
        found = []
        from = at + 1
      }
    }
    return found
  }

  /// Whether a whole header or footer, of whatever kind, begins at a position of a line.
  private func isFence(at place: Int, in line: Range<Int>) -> Bool {
    guard place < line.upperBound, let end = Self.fenceEnd(at: place, in: text) else {
      return false
    }
    return endsFence(label(from: end + 1))
  }

  /// Whether a header or footer ends its line, or is the value of a field: a sentence may mention it.
  private func isOfKey(_ place: Range<Int>, in line: Range<Int>) -> Bool {
    let rest = text[place.upperBound..<line.upperBound]
    guard let next = rest.firstIndex(where: { !Self.closing.contains($0) }) else { return true }
    if Self.fenceEnd(at: next, in: text) != nil { return true }
    guard let quote = text[line.lowerBound..<place.lowerBound].last, Self.quotes.contains(quote)
    else { return false }
    let before = text[line.lowerBound..<place.lowerBound - 1].last { $0 != UInt8(ascii: " ") }
    return before.map(Self.opening.contains) ?? true
  }

  /// - Parameter column: where the key's header stands in its line: what ends before it in a line that
  ///   follows is a prefix of an empty one.
  private func keyLine(
    _ line: Range<Int>, _ isTorn: Bool, _ surroundings: Surroundings?, _ column: Int?
  ) -> KeyLine {
    let length = bare?.range(of: line).count ?? line.count
    guard length < Self.longestLine else { return .foreign }
    if let fences = fences(in: line) { return .fences(fences) }
    var rest = line
    while let first = rest.first, Self.around.contains(text[first]) { rest = rest.dropFirst() }
    while let last = rest.last, Self.around.contains(text[last]) { rest = rest.dropLast() }
    if rest.isEmpty { return .blank }
    if !isTorn {
      if text[rest].allSatisfy(Self.base64.contains) { return .key([rest]) }
      if Self.fields.contains(where: { text[rest].starts(with: $0) }) { return .key([rest]) }
    }
    let parts = parts(in: rest) { run, _ in
      surroundings == Surroundings(of: run, in: line, text)
    }
    if !parts.isEmpty { return .key(parts) }
    let isOfHeader =
      rules.engine >= 5 && surroundings == nil
      && (column.map { rest.upperBound - line.lowerBound <= $0 } == true
        || Self.fields.contains { find($0, in: rest) != nil })
    return isOfHeader ? .blank : .foreign
  }
}

import LogRecords

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Lines of a text without terminal sequences, with the original position of each byte.
struct BareText {
  private(set) var bytes: [UInt8] = []
  /// Whether it extends to the original's end.
  let endsWithText: Bool
  private let sequences: TerminalSequences
  /// Starts of runs that are contiguous in both texts: here, and in the original.
  private var runs: [(here: Int, there: Int)] = []

  /// The lines with sequences; others are omitted.
  ///
  /// - Parameters:
  ///   - sequences: which to leave out.
  ///   - text: the text.
  ///   - range: a part of it that begins and ends at line boundaries, or at the limits of a pass.
  init(
    without sequences: TerminalSequences, _ text: UnsafeRawBufferPointer, _ range: Range<Int>
  ) {
    self.sequences = sequences
    endsWithText = range.upperBound == text.count
    var position = range.lowerBound
    while let escape = Self.find(
      TerminalSequences.escape, in: text, position..<range.upperBound)
    {
      var start = escape
      while start > position, text[start - 1] != 0x0a { start -= 1 }
      let end = Self.find(0x0a, in: text, escape..<range.upperBound).map { $0 + 1 }
      position = end ?? range.upperBound
      append(text, start..<position, firstEscape: escape)
    }
  }

  /// All lines; nil if there are no sequences.
  init?(
    ofAllLines range: Range<Int>, _ text: UnsafeRawBufferPointer,
    without sequences: TerminalSequences
  ) {
    guard let escape = Self.find(TerminalSequences.escape, in: text, range) else { return nil }
    self.sequences = sequences
    endsWithText = range.upperBound == text.count
    append(text, range, firstEscape: escape)
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
    _ text: UnsafeRawBufferPointer, _ lines: Range<Int>, firstEscape: Int
  ) {
    var start = lines.lowerBound
    var escape = Int?.some(firstEscape)
    while let place = escape {
      let end = sequences.end(at: place, in: text, lines.upperBound)
      append(text, start..<(end == nil ? place + 1 : place))
      start = end ?? place + 1
      escape = Self.find(TerminalSequences.escape, in: text, start..<lines.upperBound)
    }
    append(text, start..<lines.upperBound)
  }

  private mutating func append(_ text: UnsafeRawBufferPointer, _ part: Range<Int>) {
    guard !part.isEmpty else { return }
    runs.append((bytes.count, part.lowerBound))
    bytes += UnsafeRawBufferPointer(rebasing: text[part])
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

  /// The bytes that begin in a range of the original.
  func bytes(from range: Range<Int>) -> Range<Int> {
    first(
      in: bytes.indices, notBefore: range.lowerBound)..<first(
        in: bytes.indices, notBefore: range.upperBound)
  }

  /// End of the bytes that an anchor can affect; sequences count towards its reach.
  func limit(from anchor: Int) -> Int {
    let (reach, high) = (place(of: anchor) + sequences.reach.after, anchor + sequences.reach.after)
    guard place(of: min(high, bytes.count)) > reach else { return high }
    return first(in: anchor..<min(high, bytes.count), notBefore: reach)
  }

  /// Start of the bytes before an anchor on which it can depend; sequences count alike.
  func earliest(before anchor: Int) -> Int {
    let reach = sequences.reach.before
    guard reach < .max else { return 0 }
    return first(in: max(0, anchor - reach)..<anchor, notBefore: place(of: anchor) - reach)
  }

  /// The first position in a range whose original is not before a place; otherwise the range's end.
  private func first(in range: Range<Int>, notBefore place: Int) -> Int {
    var (low, high) = (range.lowerBound, range.upperBound)
    while low < high {
      let middle = (low + high) / 2
      if self.place(of: middle) < place { low = middle + 1 } else { high = middle }
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

extension String {
  /// A text without its terminal sequences.
  package init(withoutTerminalSequences text: String) {
    let bare = Array(text.utf8).withUnsafeBytes {
      BareText(ofAllLines: $0.indices, $0, without: .all)?.bytes
    }
    self = bare.map { String(decoding: $0, as: UTF8.self) } ?? text
  }
}

extension RedactionPass {
  /// Finds anchors that begin in a range of the text, ignoring the sequences in its lines.
  ///
  /// Expressions of custom rules are not tried, nor private keys by an engine that ignores colours
  /// only.
  mutating func scan(in range: Range<Int>, without sequences: TerminalSequences) {
    let margin =
      switch sequences {
      case .colours: rules.longestBefore
      // A sequence may have begun before the bytes on which an anchor depends.
      case .all: 2 * TerminalSequences.longest
      }
    let first = range.lowerBound - margin
    let start = lineStart(of: range.lowerBound, notBefore: first) ?? max(0, first)
    let end = lineEnd(of: range.upperBound, notAfter: range.upperBound + Self.reach)
    let bare = BareText(without: sequences, text, start..<min(text.count, end + 1))
    if !bare.bytes.isEmpty { scan(bare, of: range, isGeneral: sequences == .all) }
  }

  private mutating func scan(_ bare: BareText, of range: Range<Int>, isGeneral: Bool) {
    bare.bytes.withUnsafeBytes { bytes in
      var pass = RedactionPass(rules, bytes, at: 0, .asIs, of: bare)
      rules.scan(bytes, bytes.indices) { rule, anchor in
        let place = bare.place(of: anchor.lowerBound)
        guard range.contains(place) else { return }
        switch rules.ways[rule] {
        case .steps(let steps): pass.apply(steps, rule, anchor)
        case .keyBlock where pass.headerEnd(from: anchor.upperBound) != nil:
          block.headers.insert(place)
        case .keyBlock, .near, .cardNumber: break
        }
      }
      if isGeneral {
        for rule in rules.cards { pass.findCards(in: bare.bytes(from: range), rule) }
      }
      for match in pass.matches { add(bare.range(of: match.range), match.rule) }
    }
  }

  /// Searches for private keys in all lines after the headers that were found, as their other lines
  /// may have no sequences.
  ///
  /// Once for all ranges: what follows one header follows others, too.
  mutating func scanKeyBlocks() {
    let headers = block.headers
    guard let header = headers.min(), let last = headers.max() else { return }
    let first = header - TerminalSequences.longest
    let start = lineStart(of: header, notBefore: first) ?? max(0, first)
    let end = min(text.count, last + Self.reach)
    guard let bare = BareText(ofAllLines: start..<end, text, without: .all) else { return }
    bare.bytes.withUnsafeBytes { bytes in
      var pass = RedactionPass(rules, bytes, at: 0, hasPrefixes ? .lines : .asIs, of: bare)
      rules.scan(bytes, bytes.indices) { rule, anchor in
        guard case .keyBlock = rules.ways[rule],
          headers.contains(bare.place(of: anchor.lowerBound))
        else { return }
        pass.keyBlock(at: anchor.lowerBound, anchor.count, rule)
      }
      pass.closeBlock()
      for match in pass.matches { add(bare.range(of: match.range), match.rule) }
      guard let open = pass.block.openLine.map({ bare.place(of: $0) }) else { return }
      let line = lineStart(of: open, notBefore: open - Self.reach) ?? open
      block.openLine = min(block.openLine ?? line, line)
    }
  }
}

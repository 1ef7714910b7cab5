package import LogRecords

extension Redactor {
  /// Position in a part of a stream from which bytes can affect the masking of later ones: the
  /// start of its last line, except within private keys, which span many.
  package func decisiveStart(in text: [UInt8]) -> Int {
    guard var start = text.lastIndex(of: 0x0a).map({ $0 + 1 }) else { return 0 }
    text.withUnsafeBytes { bytes in
      compiled.scan(bytes, bytes.indices) { rule, _ in
        if case .keyBlock = compiled.ways[rule] { start = 0 }
      }
      guard compiled.ignored == .all, start > 0 else { return }
      BareText(without: .all, bytes, bytes.indices).bytes.withUnsafeBytes { bare in
        compiled.scan(bare, bare.indices) { rule, _ in
          if case .keyBlock = compiled.ways[rule] { start = 0 }
        }
      }
    }
    return start
  }

  /// Length of the longest prefix of a part whose masks no following text can change.
  ///
  /// An unfinished private key is excluded whole, and so is a possible start of a secret in an
  /// unfinished last line.
  ///
  /// - Parameters:
  ///   - text: the part, including all context of its last bytes.
  ///   - offset: stream offset of its first byte.
  ///   - format: the stream's format.
  /// - Returns: the number of bytes; at most ``context`` fewer than there are.
  package func settled(_ text: [UInt8], at offset: Int64, _ format: LogFormat) -> Int {
    var masked = text
    let (found, openLine) = maskRounds(&masked, at: offset, format)
    var end = openLine ?? text.count
    if text.last != 0x0a {
      end = min(
        end,
        text.withUnsafeBytes { bytes in
          undecided(in: bytes, RedactionPass(compiled, bytes, at: offset, format))
        })
    }
    for redaction in found.reversed()
    where redaction.range.lowerBound < end && redaction.range.upperBound >= end {
      end = redaction.range.lowerBound
    }
    return max(end, text.count - Self.context, 0)
  }

  /// Position at which to cut an unfinished line in two, so that each piece is masked like the
  /// whole.
  ///
  /// - Parameter text: the end of the line, of about ``context`` bytes.
  /// - Returns: the length of the first piece: the whole length if no secret may be unfinished; that
  ///   of the settled part if there is no such position among the last blanks before it.
  package func cut(_ text: [UInt8]) -> Int {
    let settled = settled(text, at: 0, .asIs)
    guard settled < text.count else { return settled }
    var whole = text
    _ = mask(&whole, at: 0, .asIs)
    var before = text[..<settled]
    for _ in 0..<Self.cuts {
      guard let blank = before.lastIndex(where: { $0 == 0x20 || $0 == 0x09 }) else { break }
      var (head, tail) = (Array(text[...blank]), Array(text[(blank + 1)...]))
      _ = (mask(&head, at: 0, .asIs), mask(&tail, at: 0, .asIs))
      if head + tail == whole { return blank + 1 }
      before = text[..<blank]
    }
    return settled
  }

  /// Maximum number of positions to try for a cut.
  private static let cuts = 16

  /// Position of the first text in an unfinished last line that may still become a secret.
  private func undecided(in text: UnsafeRawBufferPointer, _ pass: RedactionPass) -> Int {
    let limit = max(0, text.count - Self.context)
    let line = pass.lineStart(of: text.count, notBefore: limit) ?? limit
    // A custom rule's literal may come later, and the text before it be the secret.
    guard compiled.patterns.isEmpty else { return line }
    let last = UnsafeRawBufferPointer(rebasing: text[line...])
    var first = line + undecided(inLine: last, nil)
    if let ignored = compiled.ignored {
      let bare = BareText(without: ignored, text, line..<text.count)
      if !bare.bytes.isEmpty {
        let place = bare.bytes.withUnsafeBytes { undecided(inLine: $0, bare) }
        first = min(first, bare.place(of: place))
      }
    }
    return first
  }

  /// Position of the first text in a line that may still become a secret.
  private func undecided(inLine text: UnsafeRawBufferPointer, _ bare: BareText?) -> Int {
    var pass = RedactionPass(compiled, text, at: 0, .asIs, of: bare)
    let end = compiled.scanner.openEnd(of: text)
    var first = end
    compiled.scan(text, text.indices) { rule, anchor in
      first = min(first, pass.firstSecret(of: rule, anchor))
    }
    // The secret of an anchor that comes next may precede it.
    let open = first
    for way in compiled.ways {
      if case .steps(let steps) = way, let before = steps.before {
        first = min(first, pass.farthestStart(of: before, endingAt: end))
      }
    }
    if !compiled.cards.isEmpty {
      let members = ByteSet("0-9 -")
      var start = open
      while start > max(0, open - 64), members.contains(text[start - 1]) { start -= 1 }
      first = min(first, start)
    }
    return first
  }
}

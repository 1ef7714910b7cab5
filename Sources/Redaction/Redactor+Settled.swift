package import LogRecords

extension Redactor {
  /// Where in a part of a stream begins what is decisive for the bytes after it: with its last line,
  /// but for private keys, which go over many.
  package func decisiveStart(in text: [UInt8]) -> Int {
    guard var start = text.lastIndex(of: 0x0a).map({ $0 + 1 }) else { return 0 }
    text.withUnsafeBytes { bytes in
      compiled.scan(bytes, bytes.indices) { rule, _ in
        if case .keyBlock = compiled.ways[rule] { start = 0 }
      }
    }
    return start
  }

  /// Up to where the masks of a part of a stream stay what they are, whatever comes after it.
  ///
  /// A private key that has begun is held back whole, and so is what may become a secret in a last
  /// line without a newline.
  ///
  /// - Parameters:
  ///   - text: the part; what is decisive for its last bytes is in it.
  ///   - offset: stream offset of its first byte.
  ///   - format: the stream's.
  /// - Returns: how many of its bytes; at most ``context`` fewer than there are.
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

  /// Where the first thing begins in an unfinished last line that may still become a secret.
  private func undecided(in text: UnsafeRawBufferPointer, _ pass: RedactionPass) -> Int {
    let limit = max(0, text.count - Self.context)
    let line = pass.lineStart(of: text.count, notBefore: limit) ?? limit
    // A literal of an own rule may come later, and what is before it be the secret.
    guard compiled.patterns.isEmpty else { return line }
    let last = UnsafeRawBufferPointer(rebasing: text[line...])
    var first = line + undecided(inLine: last, nil)
    if compiled.looksThroughColours {
      let colourless = ColourlessText(text, line..<text.count)
      if !colourless.bytes.isEmpty {
        let place = colourless.bytes.withUnsafeBytes { undecided(inLine: $0, colourless) }
        first = min(first, colourless.place(of: place))
      }
    }
    return first
  }

  /// Where the first thing begins in a line that may still become a secret, as if it had no colours.
  private func undecided(inLine text: UnsafeRawBufferPointer, _ colourless: ColourlessText?) -> Int
  {
    var pass = RedactionPass(compiled, text, at: 0, .asIs, of: colourless)
    let end = compiled.scanner.openEnd(of: text)
    var first = end
    compiled.scan(text, text.indices) { rule, anchor in
      first = min(first, pass.firstSecret(of: rule, anchor))
    }
    // An anchor that comes next may have its secret before it.
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

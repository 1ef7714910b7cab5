package import LogRecords

extension Redactor {
  /// Where in a part of a stream begins what is decisive for the bytes after it: with its last line,
  /// but for private keys, which go over many.
  package func decisiveStart(in text: [UInt8]) -> Int {
    guard var start = text.lastIndex(of: 0x0a).map({ $0 + 1 }) else { return 0 }
    text.withUnsafeBytes { bytes in
      compiled.scanner.scan(bytes, bytes.indices) { rule, _, _ in
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
    var first = compiled.scanner.openEnd(of: text)
    compiled.scanner.scan(text, line..<text.count) { _, start, _ in first = min(first, start) }
    // What stands before an anchor, or is a number that goes on, ends at anything but these.
    let members = ByteSet("A-Za-z0-9.!#$%&'+/=?^_`{|}~ -")
    let looksBack = compiled.ways.contains {
      switch $0 {
      case .cardNumber: true
      case .steps(let steps): steps.before != nil
      default: false
      }
    }
    if looksBack {
      let farthest = max(line, first - 64)
      while first > farthest, members.contains(text[first - 1]) { first -= 1 }
    }
    return max(line, first)
  }
}

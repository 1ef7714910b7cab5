/// Streams that are difficult for a delta, and edits of streams.
package enum EditScript {
  /// Initial bytes: log lines, nasty text, random bytes, one byte repeated, a pattern repeated, or
  /// several of these.
  ///
  /// - Parameter limit: maximum length in bytes.
  package static func stream(_ limit: Int, _ generator: inout SeededGenerator) -> [UInt8] {
    let count = Int.random(in: 0...limit, using: &generator)
    switch Int.random(in: 0..<6, using: &generator) {
    case 0:
      return Array(repeating: UInt8.random(in: 0...255, using: &generator), count: count)
    case 1:
      let pattern = random(Int.random(in: 1...5000, using: &generator), &generator)
      return (0..<count).map { pattern[$0 % pattern.count] }
    case 2:
      return random(count, &generator)
    case 3:
      return Array(NastyText.make(count / 60 + 1, &generator).prefix(count))
    case 4:
      var out: [UInt8] = []
      while out.count < count { out += line(&generator) }
      return Array(out.prefix(count))
    default:
      return stream(limit / 2, &generator) + stream(limit / 2, &generator)
    }
  }

  /// The same stream after up to `edits` edits.
  package static func apply(
    _ edits: Int, to stream: [UInt8], _ generator: inout SeededGenerator
  ) -> [UInt8] {
    var out = stream
    for _ in 0..<Int.random(in: 0...edits, using: &generator) { edit(&out, &generator) }
    return out
  }

  /// The same bytes in pieces: one, many of a few bytes, or some of any length.
  package static func pieces(
    of stream: [UInt8], _ generator: inout SeededGenerator
  ) -> [[UInt8]] {
    let longest = [1 << 30, 50_000, 7000, 300].randomElement(using: &generator) ?? 1
    var pieces: [[UInt8]] = []
    var rest = stream[...]
    while !rest.isEmpty {
      let piece = rest.prefix(Int.random(in: 1...longest, using: &generator))
      pieces.append(Array(piece))
      rest = rest.dropFirst(piece.count)
    }
    return pieces
  }

  /// Random bytes, which zstd cannot compress.
  package static func random(_ count: Int, _ generator: inout SeededGenerator) -> [UInt8] {
    var out: [UInt8] = []
    out.reserveCapacity(count + 8)
    while out.count < count { withUnsafeBytes(of: generator.next()) { out.append(contentsOf: $0) } }
    return Array(out.prefix(count))
  }

  /// A typical log line.
  package static func line(_ generator: inout SeededGenerator) -> [UInt8] {
    let (second, number) = (generator.next() % 60, generator.next() % 1_000_000)
    return Array(
      "2026-01-22T14:30:\(second).123Z [INFO] [Net] request \(number) of worker \(number % 17)\n"
        .utf8)
  }

  private static func edit(_ bytes: inout [UInt8], _ generator: inout SeededGenerator) {
    let from = Int.random(in: 0...bytes.count, using: &generator)
    let to = min(bytes.count, from + Int.random(in: 0...20_000, using: &generator))
    let part = Array(bytes[from..<to])
    switch Int.random(in: 0..<8, using: &generator) {
    case 0: bytes.insert(contentsOf: line(&generator), at: from)
    case 1: bytes.removeSubrange(from..<to)
    case 2: bytes.replaceSubrange(from..<to, with: stream(20_000, &generator))
    case 3:
      bytes.removeSubrange(from..<to)
      let place = Int.random(in: 0...bytes.count, using: &generator)
      bytes.insert(contentsOf: part, at: place)
    case 4: bytes.removeFirst(to)
    case 5: bytes += stream(50_000, &generator)
    case 6: bytes.insert(contentsOf: part, at: from)
    default:
      for place in from..<min(from + 20, to) { bytes[place] = UInt8(ascii: "*") }
    }
  }
}

import LogRecords
import Redaction
import TestSupport
import Testing

/// Masks that are found a part of the stream at a time.
@Suite(.tags(.small)) struct MaskSearchTests {
  private static let keyLine = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7abcdefghABC=\n"
  private static let token = "ghp_0123456789abcdefghijABCDEFGHIJ012345"

  /// Ranges in order, joined where they touch: the same bytes.
  private static func joined(_ ranges: [Range<Int64>]) -> [Range<Int64>] {
    var joined: [Range<Int64>] = []
    for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
      if let last = joined.last, range.lowerBound <= last.upperBound {
        joined[joined.count - 1] = last.lowerBound..<max(last.upperBound, range.upperBound)
      } else {
        joined.append(range)
      }
    }
    return joined
  }

  /// What is masked in the whole text at once.
  private static func whole(
    _ text: [UInt8], at offset: Int64 = 0, _ redactor: Redactor, _ format: LogFormat = .asIs
  ) -> [Range<Int64>] {
    var masked = text
    return joined(
      redactor.mask(&masked, at: offset, format).map { redaction in
        offset + Int64(redaction.range.lowerBound)..<offset + Int64(redaction.range.upperBound)
      })
  }

  /// What is found in a text that is added in pieces of at most some length.
  private static func found(
    _ text: [UInt8], at offset: Int64 = 0, _ redactor: Redactor, _ format: LogFormat = .asIs,
    stride: Int, pieces: Int, _ random: inout SeededGenerator
  ) -> [Range<Int64>] {
    var search = MaskSearch(redactor, format, at: offset, stride: stride)
    var found: [Range<Int64>] = []
    var position = 0
    while position < text.count {
      let end = min(text.count, position + Int.random(in: 1...pieces, using: &random))
      found += text[position..<end].withUnsafeBytes { search.add($0) }
      position = end
    }
    found += search.finish()
    let isInOrder = zip(found, found.dropFirst()).allSatisfy { $0.upperBound <= $1.lowerBound }
    #expect(isInOrder)
    return joined(found)
  }

  /// So many bytes of text in which nothing is masked.
  private static func plain(_ count: Int) -> [UInt8] {
    let line = Array("a line of words without anything to mask\n".utf8)
    return (0..<count).map { line[$0 % line.count] }
  }

  @Test(arguments: SeededGenerator.cases(60))
  func `the parts of a text of any kind have the masks of the whole`(number: Int) throws {
    var random = SeededGenerator(case: number)
    let redactor = try Redactor(RedactionSamples.rules())
    let format: LogFormat = Bool.random(using: &random) ? .lines : .asIs
    let stride = Int.random(in: 8_000...60_000, using: &random)
    let length = Int.random(in: 1...Redactor.context + 5 * stride, using: &random)
    let text = RedactionSamples.hostile(length, &random)
    let offset = Int64.random(in: 0...1 << 40, using: &random)
    let found = Self.found(
      text, at: offset, redactor, format, stride: stride,
      pieces: [700, stride, 3 * stride].randomElement(using: &random) ?? stride, &random)
    let isSame = found == Self.whole(text, at: offset, redactor, format)
    #expect(isSame, "stride \(stride), \(length) bytes from \(offset)")
  }

  @Test(arguments: RedactionSamples.found.indices)
  func `a secret across the boundary of two parts is masked whole`(number: Int) {
    var random = SeededGenerator(case: number)
    let sample = RedactionSamples.found[number].text.filter { $0 != "<" && $0 != ">" }
    let line = Array("\n\(sample)\n".utf8)
    let stride = 6_000
    var text = Self.plain(Redactor.context + 8 * stride)
    for boundary in 1...8 {
      let start = boundary * stride - Int.random(in: 0...line.count, using: &random)
      text.replaceSubrange(start..<start + line.count, with: line)
    }
    let whole = Self.whole(text, .standard)
    #expect(whole.count >= 8)
    for pieces in [1_000, text.count] {
      let found = Self.found(text, .standard, stride: stride, pieces: pieces, &random)
      let isSame = found == whole
      #expect(isSame, "pieces of \(pieces)")
    }
  }

  @Test(arguments: SeededGenerator.cases(40))
  func `a private key over several parts is masked as in the whole`(number: Int) {
    var random = SeededGenerator(case: number)
    let stride = Int.random(in: 2_000...20_000, using: &random)
    var text = Self.plain(Int.random(in: 0...3 * stride, using: &random)) + [0x0a]
    while text.count < Redactor.context + 4 * stride {
      text += Array("-----BEGIN RSA PRIVATE KEY-----\n".utf8)
      // A key longer than a rule reaches, too.
      for _ in 0..<Int.random(in: 1...700, using: &random) {
        text += Array(Self.keyLine.utf8)
        if Int.random(in: 0..<20, using: &random) == 0 { text += Array("another program\n".utf8) }
      }
      if Bool.random(using: &random) { text += Array("-----END RSA PRIVATE KEY-----\n".utf8) }
      text += Self.plain(Int.random(in: 0...stride, using: &random)) + [0x0a]
    }
    let whole = Self.whole(text, .standard)
    #expect(!whole.isEmpty)
    let found = Self.found(text, .standard, stride: stride, pieces: 5_000, &random)
    let isSame = found == whole
    #expect(isSame, "stride \(stride)")
  }

  @Test func `a mask longer than several parts is found whole`() {
    var random = SeededGenerator(case: 0)
    // Each value continues where the one before ends, in one line.
    let value = "DB_PASSWORD=" + String(repeating: "a1B", count: 9_000)
    let text = Array(String(repeating: value, count: 9).utf8)
    let whole = Self.whole(text, .standard)
    #expect(!whole.isEmpty)
    let found = Self.found(text, .standard, stride: 10_000, pieces: 25_000, &random)
    #expect(found == whole)
  }

  @Test func `a stream of several usual parts has the masks of the whole`() {
    var random = SeededGenerator(case: 1)
    var text = Self.plain(2 * MaskSearch.usualStride + Redactor.context + 5_000)
    let token = Array(" \(Self.token) ".utf8)
    let key = Array(
      ("\n-----BEGIN PRIVATE KEY-----\n" + String(repeating: Self.keyLine, count: 20)
        + "-----END PRIVATE KEY-----\n").utf8)
    for (place, secret) in [
      (MaskSearch.usualStride - 9, token), (2 * MaskSearch.usualStride - 500, key),
    ] {
      text.replaceSubrange(place..<place + secret.count, with: secret)
    }
    let whole = Self.whole(text, .standard)
    #expect(whole.count == 21)
    let found = Self.found(
      text, .standard, stride: MaskSearch.usualStride, pieces: 2 << 20, &random)
    #expect(found == whole)
  }

  @Test func `an empty stream has no masks`() {
    var search = MaskSearch(.standard, .asIs)
    let isEmpty = search.add(UnsafeRawBufferPointer(start: nil, count: 0)).isEmpty
    #expect(isEmpty)
    let isRestEmpty = search.finish().isEmpty
    #expect(isRestEmpty)
  }
}

import LogRecords
import TestSupport
import Testing

@testable import Redaction

/// The scan finds every anchor, and skips only those after which no step matches.
@Suite(.tags(.small)) struct AnchorTests {
  private static let compiled = Redactor.standard.compiled

  @Test func `an anchor is found at any position`() {
    let scanner = Self.compiled.scanner
    for (number, anchor) in scanner.anchors.enumerated() {
      let upper = zip(anchor.bytes, anchor.fold).map { $0 & ~$1 }
      for bytes in Set([anchor.bytes, upper]) {
        for (before, after) in [(0, 0), (0, 9), (1, 0), (2, 1), (3, 7), (9, 2), (20, 20), (25, 3)] {
          let text =
            [UInt8](repeating: 0x23, count: before) + bytes + [UInt8](repeating: 0x23, count: after)
          var found: [Range<Int>] = []
          text.withUnsafeBytes { text in
            scanner.scan(text, text.indices) { if $0 == number { found.append($1) } }
          }
          #expect(found == [before..<before + bytes.count], "\(anchor.bytes) after \(before)")
        }
      }
    }
  }

  /// Bytes that match the steps of a rule, some of them changed.
  private func text(_ steps: [RedactionRule.Step], _ generator: inout SeededGenerator) -> [UInt8] {
    var text: [UInt8] = []
    for step in steps {
      let least = step.least ?? 1
      let count = Int.random(in: least...min(step.most ?? least, least + 2), using: &generator)
      if let word = step.words?.randomElement(using: &generator) {
        text += word.utf8
      } else if let bytes = step.bytes {
        let set = (1...255).map(UInt8.init).filter(ByteSet(bytes).contains)
        text += (0..<count).compactMap { _ in set.randomElement(using: &generator) }
      }
      if let end = step.endsBefore { text += end.utf8.filter { _ in count < least + 2 } }
    }
    if !text.isEmpty, Int.random(in: 0..<3, using: &generator) == 0 {
      text[Int.random(in: 0..<min(3, text.count), using: &generator)] = .random(
        in: 0...255, using: &generator)
    }
    return text
  }

  @Test func `an anchor is skipped only if no step of its rule fits`() {
    var generator = SeededGenerator(case: 7)
    var fitting: Set<Int> = []
    var passedOver = 0
    for (number, rule) in Redactor.standard.rules.rules.enumerated() {
      guard case .steps(let steps) = Self.compiled.ways[number] else { continue }
      // The text before an anchor is checked separately.
      let before = rule.before.map { [UInt8](repeating: 0x37, count: $0.least ?? 1) } ?? []
      for _ in 0..<20 {
        let anchor = Array(rule.anchors.randomElement(using: &generator)?.utf8 ?? "".utf8)
        let bytes = before + anchor + text(rule.steps ?? [], &generator)
        bytes.withUnsafeBytes { bytes in
          var pass = RedactionPass(Self.compiled, bytes, at: 0, .asIs)
          pass.apply(steps, number, before.count..<before.count + anchor.count)
          var isTried = false
          Self.compiled.scan(bytes, bytes.indices) { rule, place in
            if rule == number, place.lowerBound == before.count { isTried = true }
          }
          if !pass.matches.isEmpty {
            fitting.insert(number)
            #expect(isTried, "\(rule.kind): \(bytes.map { Character(Unicode.Scalar($0)) })")
          }
          passedOver += isTried ? 0 : 1
        }
      }
    }
    #expect(fitting.count > Redactor.standard.rules.rules.count * 3 / 4)
    #expect(passedOver > 0)
  }
}

import TestSupport
import Testing

@testable import Fleet

/// Shares of limited room.
@Suite(.tags(.small)) struct FairShareTests {
  @Test(
    arguments: [
      ([], 10, .max), ([4, 6], 10, .max), ([4, 7], 10, 6), ([1, 100], 10, 9),
      ([1, 100, 100], 11, 5), ([100, 100, 100], 10, 3), ([5], 0, 0), ([3, 3], -1, 0),
    ] as [([Int], Int, Int)])
  func `the level is what the largest may have`(sizes: [Int], limit: Int, level: Int) {
    #expect(FairShare.level(of: sizes, within: limit) == level)
    #expect(FairShare.level(of: sizes.reversed(), within: limit) == level)
  }

  @Test(arguments: 1..<40)
  func `the largest gives way until the rest fits, and the smallest keeps all`(limit: Int) {
    let entries = (0..<60).map { number in
      (key: number, holder: number % 20 == 0 ? "honest" : "greedy", size: 1 + number % 3)
    }
    let excess = Set(FairShare.excess(entries, within: limit))
    let kept = entries.filter { !excess.contains($0.key) }
    #expect(kept.reduce(0) { $0 + $1.size } <= limit)
    // Its three entries have 6 units.
    if limit >= 12 { #expect(kept.count { $0.holder == "honest" } == 3) }
    // The least valuable entries go first.
    let gone = entries.filter { excess.contains($0.key) && $0.holder == "greedy" }.map(\.key)
    let left = kept.filter { $0.holder == "greedy" }.map(\.key)
    #expect((gone.max() ?? -1) < (left.min() ?? .max))
  }

  @Test func `the first of each comes before the second of any`() {
    let entries = ["a1", "a2", "a3", "b1", "c1", "b2"]
    #expect(
      FairShare.inTurns(entries) { String($0.prefix(1)) } == ["a1", "b1", "c1", "a2", "b2", "a3"])
  }

  @Test(arguments: [
    ("plain", "plain"), ("a\nb", "a b"), ("12345678901", "1234567890…"),
    ("\u{e0041}\u{e0042}\u{e0043}", "\\u{e0041}\\u…"), ("\"\"\"\"\"\"\"\"\"", "\"\"\"\"\"\"…"),
    ("日本語日本語", "日本語日…"),
  ])
  func `what is stored is limited in bytes, escapes included`(text: String, stored: String) {
    let line = String(storedLine: text, limit: 10, bytes: 16)
    #expect(line == stored)
    #expect(line.storedLength <= 16)
  }
}

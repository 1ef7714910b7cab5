import Foundation

/// A generator whose seed is printed, so that a failing run can be repeated.
package struct SeededGenerator: RandomNumberGenerator {
  /// The seed of this run: `TIDEMARK_TEST_SEED`, else 1.
  package static let runSeed =
    ProcessInfo.processInfo.environment["TIDEMARK_TEST_SEED"].flatMap(UInt64.init) ?? 1

  private var state: UInt64

  /// A generator for one case of a campaign.
  ///
  /// - Parameter seed: a seed other than the run's, for a case that failed once, or for an
  ///   expectation that holds for most seeds only.
  package init(case number: Int, seed: UInt64 = runSeed) {
    state = seed &* 0x9e37_79b9_7f4a_7c15 &+ UInt64(truncatingIfNeeded: number)
  }

  /// SplitMix64 (Steele, Lea, Flood 2014).
  package mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var z = state
    z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
    z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
    return z ^ (z >> 31)
  }

  /// Cases of a campaign: all with `TIDEMARK_TEST_FULL`, else a twentieth.
  package static func cases(_ full: Int) -> Range<Int> {
    let isFull = ProcessInfo.processInfo.environment["TIDEMARK_TEST_FULL"] != nil
    return 0..<(isFull ? full : max(1, full / 20))
  }
}

/// The 256 random numbers of the gear hash.
///
/// Gear (Xia et al., "Ddelta: A Deduplication-Inspired Fast Delta Compression Approach", 2014)
/// shifts the hash left by one bit for each byte and adds the byte's number, so that after 64 more
/// bytes a byte no longer affects the 64-bit hash. The numbers come from SplitMix64 (Steele, Lea,
/// Flood 2014) with a fixed seed: blocks are compared across processes and restarts, so they must
/// never change without a new ``SignatureFile/version``.
enum GearTable {
  static let numbers: [UInt64] = {
    var state: UInt64 = 0x7469_6465_6d61_726b
    return (0..<256).map { _ in
      state &+= 0x9e37_79b9_7f4a_7c15
      var z = state
      z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
      z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
      return z ^ (z >> 31)
    }
  }()
}

/// Finds a block in a basis by its hash.
///
/// Uses 4 bytes per block in addition to the signature: the blocks' indexes in the order of their
/// hashes, each hash once. The search is binary, so that no input makes it slow.
package struct BlockIndex: Sendable {
  /// The blocks it finds.
  package let signature: Signature
  private let order: [UInt32]

  /// Makes the index of a basis.
  package init(_ signature: Signature) {
    self.signature = signature
    // Of equal blocks in a repetitive stream, keep only the first.
    var order = (0..<UInt32(clamping: signature.count)).sorted {
      let (left, right) = (signature.hash(Int($0)), signature.hash(Int($1)))
      return left == right ? $0 < $1 : left < right
    }
    var kept = 0
    for number in order {
      let isRepeated =
        kept > 0 && signature.hash(Int(order[kept - 1])) == signature.hash(Int(number))
      if isRepeated { continue }
      order[kept] = number
      kept += 1
    }
    order.removeSubrange(kept...)
    self.order = order
  }

  /// The index of a block with this content; nil if there is none.
  ///
  /// - Parameter expected: the index to prefer, which continues the previous match.
  func find(_ hash: ContentHash, length: Int, expected: Int) -> Int? {
    if expected < signature.count, isEqual(expected, hash, length) { return expected }
    let place = order.partitionPoint { signature.hash(Int($0)) >= hash }
    guard place < order.count, isEqual(Int(order[place]), hash, length) else { return nil }
    return Int(order[place])
  }

  private func isEqual(_ number: Int, _ hash: ContentHash, _ length: Int) -> Bool {
    let range = signature.range(number)
    return signature.hash(number) == hash && range.upperBound - range.lowerBound == Int64(length)
  }
}

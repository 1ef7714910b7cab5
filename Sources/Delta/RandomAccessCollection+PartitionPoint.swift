extension RandomAccessCollection {
  /// The first position from which a condition holds that holds for no element before it.
  ///
  /// Binary search, so that no input makes it slow.
  package func partitionPoint(_ holds: (Element) -> Bool) -> Index {
    var (low, high) = (startIndex, endIndex)
    while low < high {
      let middle = index(low, offsetBy: distance(from: low, to: high) / 2)
      if holds(self[middle]) { high = middle } else { low = index(after: middle) }
    }
    return low
  }
}

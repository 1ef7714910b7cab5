package import SessionLog

/// Which objects of a sealed session are no longer needed, by what its seal names.
extension RemoteSession {
  /// Whether segments of these names are there, each whole.
  package func holds(_ names: [String]) -> Bool {
    Set(names).isSubset(of: segments.map(\.fileName))
  }

  /// Whether segments of these names are there, each whole, and together hold `[0, length)`.
  package func holds(_ names: [String], length: StreamOffset) -> Bool {
    let names = Set(names)
    let named = segments.filter { names.contains($0.fileName) }
    guard named.count == names.count else { return false }
    var end = StreamOffset.zero
    for segment in named where segment.range.lowerBound <= end {
      end = max(end, segment.range.upperBound)
    }
    return end >= length
  }

  /// Keys that a sealed session does without, and names of segments that only look so.
  ///
  /// An older revision may go. A segment may go where its generation was redacted anew; and where the
  /// seal names a segment of the same generation that has its bytes, if this home put it or its upload
  /// was cut. Any other may hold bytes that are nowhere else: those that a file had before it was
  /// rewritten, or another writer's. Nothing may go unless all that the seal names is there.
  ///
  /// - Parameters:
  ///   - seal: the sidecar of the home that sealed it with the newest revision.
  ///   - put: the segments that this home is known to have put.
  package func superseded(
    by seal: Sidecar, put: Set<SegmentName>
  ) -> (keys: [String], surplus: [SegmentName]) {
    guard let revision = self.seal else { return ([], []) }
    let named = Set((seal.objects ?? []) + (seal.basis ?? []))
    guard holds(Array(named)), holds(seal.objects ?? [], length: revision.length) else {
      return ([], [])
    }
    let objects = (seal.objects ?? []).compactMap(SegmentName.init)
    // A cut upload has another size than its name says, and no reader uses it.
    let cut = Set(damagedSegments.map(\.name))
    var gone: [String] = []
    var surplus: [SegmentName] = []
    for key in keys {
      let fileName = String(key.dropFirst(folder.key.count))
      if let other = RevisionName(fileName) {
        // One that was cut on its way may have the number that the seal has.
        let isOlder =
          other.number < revision.number
          || other.number == revision.number && other.status == .active
        if isOlder { gone.append(key) }
      } else if let segment = SegmentName(fileName), !named.contains(fileName) {
        let isCovered =
          segment.generation < seal.erasesBefore ?? 0
          || (put.contains(segment) || cut.contains(segment))
            && objects.contains { $0.holds(segment) }
        if isCovered { gone.append(key) } else { surplus.append(segment) }
      }
    }
    return (gone, surplus)
  }
}

package import SessionLog

/// Finds objects of a sealed session that its seal supersedes.
extension RemoteSession {
  /// Whether segments of these names exist, each complete.
  package func holds(_ names: [String]) -> Bool {
    Set(names).isSubset(of: segments.map(\.fileName))
  }

  /// Whether segments of these names exist, each complete, and together hold `[0, length)`.
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

  /// Keys of superseded objects of a sealed session, and names of segments that only appear
  /// superseded.
  ///
  /// Older revisions are superseded, and another one with the seal's number that this home put, or that no
  /// reader takes for the seal. A segment is superseded if its generation was redacted again;
  /// or if the seal names a segment of the same generation that has its bytes, provided this home
  /// put it or its upload was truncated. Any other segment may hold bytes that exist nowhere else,
  /// such as another writer's. Nothing is superseded unless
  /// everything that the seal names exists.
  ///
  /// - Parameters:
  ///   - seal: the sidecar of the home that sealed it with the newest revision.
  ///   - put: names of the objects that this home is known to have put.
  package func superseded(
    by seal: Sidecar, put: Set<String>
  ) -> (keys: [String], surplus: [SegmentName]) {
    guard let revision = self.seal else { return ([], []) }
    let named = Set((seal.objects ?? []) + (seal.basis ?? []))
    guard holds(Array(named)), holds(seal.objects ?? [], length: revision.length) else {
      return ([], [])
    }
    let segments = named.compactMap(SegmentName.init)
    // A truncated upload has another size than its name says, and no reader uses it.
    let cut = Set(damagedSegments.map(\.name))
    var gone: [String] = []
    var surplus: [SegmentName] = []
    for key in keys {
      let fileName = String(key.dropFirst(folder.key.count))
      if let other = RevisionName(fileName) {
        // An interrupted pass may have left one with the seal's number, truncated or not.
        let isOlder =
          other.number < revision.number
          || other.number == revision.number && other != revision
            && (other.status == .active || !revisions.contains(other) || put.contains(fileName))
        if isOlder { gone.append(key) }
      } else if let segment = SegmentName(fileName), !named.contains(fileName) {
        let isCovered =
          segment.generation < seal.erasesBefore ?? 0
          || (put.contains(fileName) || cut.contains(segment))
            && segments.contains { $0.holds(segment) }
        if isCovered { gone.append(key) } else { surplus.append(segment) }
      }
    }
    return (gone, surplus)
  }
}

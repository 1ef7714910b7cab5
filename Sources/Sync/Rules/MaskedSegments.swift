import Replica
import SessionLog

/// Finds the segments of an attached file that copy from an object in which the present rules mask
/// something, within the copied bytes or beside them.
///
/// Reads each generation that is copied from once.
struct MaskedSegments {
  /// What is known of a generation.
  private struct Generation {
    let masks: SegmentMasks
    let unreadable: [SegmentName: ReplicaError]
  }

  private let remote: RemoteSession
  private let context: SyncContext
  private var generations: [Int: Generation] = [:]

  /// - Parameter remote: the session in a listing.
  init(_ remote: RemoteSession, _ context: SyncContext) {
    (self.remote, self.context) = (remote, context)
  }

  /// Those of some segments that copy from such an object.
  ///
  /// - Throws: ``Replica/ReplicaError`` if an object that they copy from cannot be read; errors of the
  ///   store.
  mutating func copies(_ segments: [SegmentName]) async throws -> Set<SegmentName> {
    var found: Set<SegmentName> = []
    for name in segments where name.kind == .delta {
      for source in try await context.reader.basis(of: name, in: remote) {
        let known = try await generation(source.generation)
        if let error = known.unreadable[source] { throw error }
        if known.masks.isMasked(in: source.range) { found.insert(name) }
      }
    }
    return found
  }

  private mutating func generation(_ number: Int) async throws -> Generation {
    if let known = generations[number] { return known }
    let read = try await examine(number)
    generations[number] = read
    return read
  }

  private func examine(_ number: Int) async throws -> Generation {
    let order = remote.segments(of: number).sorted {
      ($0.range.lowerBound, $1.range.upperBound) < ($1.range.lowerBound, $0.range.upperBound)
    }
    var masks = SegmentMasks(of: order.map(\.range), by: context.redaction.current)
    var unreadable: [SegmentName: ReplicaError] = [:]
    for name in order {
      // Nothing counts of a segment that turns out to be damaged.
      var next = masks
      next.begin(name.range)
      do {
        try await context.reader.read(name, in: remote.folder) { next.add($0) }
      } catch let error as ReplicaError {
        unreadable[name] = error
        continue
      }
      next.endSegment()
      masks = next
    }
    masks.finish()
    return Generation(masks: masks, unreadable: unreadable)
  }
}

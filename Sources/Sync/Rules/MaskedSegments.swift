import Platform
import Redaction
import Replica
import SessionLog

/// Finds the segments of an attached file that copy from an object in which the present rules mask
/// something, within the copied bytes or beside them.
///
/// Reads each generation that is copied from once.
struct MaskedSegments {
  /// What is known of a generation.
  private struct Generation {
    var masked: [Range<StreamOffset>] = []
    var unreadable: [SegmentName: ReplicaError] = [:]
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
        if known.masked.contains(where: { $0.overlaps(source.range) }) { found.insert(name) }
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

  /// Reads a generation's segments, together where one follows another: a private key may begin in
  /// one and end in the next.
  private func examine(_ number: Int) async throws -> Generation {
    var generation = Generation()
    func examine(_ text: [UInt8], from start: StreamOffset) {
      generation.masked += context.redaction.current.redactions(in: text).map {
        start + ByteCount($0.range.lowerBound)..<start + ByteCount($0.range.upperBound)
      }
    }
    var (start, text): (StreamOffset, [UInt8]) = (.zero, [])
    let order = remote.segments(of: number).sorted {
      ($0.range.lowerBound, $1.range.upperBound) < ($1.range.lowerBound, $0.range.upperBound)
    }
    for name in order {
      var bytes: [UInt8] = []
      do {
        try await context.reader.read(name, in: remote.folder) { bytes.append(contentsOf: $0) }
      } catch let error as ReplicaError {
        generation.unreadable[name] = error
        continue
      }
      let end = start + ByteCount(text.count)
      if text.isEmpty || name.range.lowerBound > end {
        examine(text, from: start)
        (start, text) = (name.range.lowerBound, bytes)
        continue
      }
      // Its own bytes count, too, where two segments overlap.
      if name.range.lowerBound < end { examine(bytes, from: name.range.lowerBound) }
      if name.range.upperBound > end {
        text += bytes.dropFirst(Int((end - name.range.lowerBound).bytes))
      }
    }
    examine(text, from: start)
    return generation
  }
}

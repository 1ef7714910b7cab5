package import Delta
import ObjectStore
import Platform

/// Reads the instructions and the basis of a delta.
extension RemoteReader {
  /// A delta's instructions, which make as many bytes as its name says.
  ///
  /// - Throws: ``ReplicaError``, ``ObjectStore/StoreError``.
  package func instructions(
    of name: SegmentName, in folder: SessionFolder
  ) async throws -> DeltaInstructions {
    let object = try await store.get(
      folder.key + name.fileName, atMost: SegmentName.largestObject)
    let instructions = try SegmentIndex.decode(endOf: object[...]).index.instructions
    guard instructions.length == name.length.bytes else {
      throw ReplicaError(
        .damagedObject, "\(folder.key)\(name) makes other bytes than its name says")
    }
    return instructions
  }

  /// Segments of earlier generations that a delta copies from.
  ///
  /// - Throws: ``ReplicaError``, ``ObjectStore/StoreError``.
  package func basis(
    of name: SegmentName, in remote: RemoteSession
  ) async throws -> Set<SegmentName> {
    var basis: Set<SegmentName> = []
    for case .copy(let source) in try await instructions(of: name, in: remote.folder).list {
      let segments = remote.cover(upTo: source.offsets.upperBound, of: source.generation)
      basis.formUnion(segments.filter { $0.range.overlaps(source.offsets) })
    }
    return basis
  }

  /// Whether all that a delta segment copies from exists.
  ///
  /// - Throws: ``ReplicaError``; ``ObjectStore/StoreError``.
  package func hasBasis(of name: SegmentName, in remote: RemoteSession) async throws -> Bool {
    for case .copy(let source) in try await instructions(of: name, in: remote.folder).list {
      var end = source.offsets.lowerBound
      for segment in remote.segments(of: source.generation) where segment.range.lowerBound <= end {
        end = max(end, segment.range.upperBound)
      }
      if end < source.offsets.upperBound { return false }
    }
    return true
  }
}

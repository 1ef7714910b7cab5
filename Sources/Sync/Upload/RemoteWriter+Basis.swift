import Logging
import ObjectStore
import Platform
import Replica
import SessionLog

/// What a rewritten file's stream needs of earlier generations.
extension RemoteWriter {
  /// Segments of earlier generations: those of the former streams, and those that these objects and
  /// the former streams copy from.
  func basis(of objects: [SegmentName], _ state: SessionState) async throws -> [SegmentName] {
    let (reader, remote) = (context.reader, remote(state))
    let former = state.former
    if let lost = lostFormerStream(state) { throw missing(lost, state) }
    var basis = Set(former.flatMap { remote.cover(upTo: $0.length, of: $0.generation) })
    // Everything that a delta can copy from is in a former stream, unless an earlier version sent it.
    let known = Set(former.map(\.generation))
    let earlier = Set(remote.segments.map(\.generation).filter { $0 < state.entry.generation })
    guard !earlier.isSubset(of: known) else { return basis.sorted { $0.fileName < $1.fileName } }
    for name in objects + basis where name.kind == .delta {
      basis.formUnion(try await reader.basis(of: name, in: remote))
    }
    return basis.sorted { $0.fileName < $1.fileName }
  }

  /// The first former stream of which the store lacks bytes.
  func lostFormerStream(_ state: SessionState) -> Sidecar.FormerStream? {
    let remote = remote(state)
    return state.former.first { remote.mark(of: $0.generation) < $0.length }
  }

  private func missing(_ lost: Sidecar.FormerStream, _ state: SessionState) -> ReplicaError {
    let mark = remote(state).mark(of: lost.generation)
    return ReplicaError(
      .missingBytes,
      "bytes \(mark) to \(lost.length) of generation \(lost.generation) of \(state.session), which the "
        + "file held until \(lost.until), are not in the store any more: it is not sealed. Put the "
        + "objects back from a backup or the bucket's versions, then run 'tidemark retry "
        + "\(state.session)'; or run 'tidemark verify --repair \(state.session)', which seals it "
        + "without them")
  }

  /// Expects everything that the sent stream's deltas copy from.
  ///
  /// Only a listing can show that it is gone, so that a tick without one reads nothing.
  ///
  /// - Throws: ``Replica/ReplicaError`` if some of it is gone: then the log has to be sent as another
  ///   generation, without a basis.
  func expectBasis(_ state: SessionState) async throws {
    guard state.isOfThisGeneration, state.isEntryListed || state.verdict != nil,
      let name = try await segmentWithoutBasis(state)
    else { return }
    throw ReplicaError(
      .localLogChanged,
      "objects that \(folder.key)\(name.fileName) copies from are not in the store any more: put them "
        + "back from a backup or the bucket's versions")
  }

  /// The first delta of the sent stream that copies from an object that is gone.
  ///
  /// Only an earlier generation that is no whole former stream, because objects are gone or it was
  /// given up, gives cause to read them.
  func segmentWithoutBasis(_ state: SessionState) async throws -> SegmentName? {
    let remote = remote(state)
    let whole = state.former.filter { remote.mark(of: $0.generation) >= $0.length }
    guard state.isAttached, whole.count < state.entry.generation - 1 else { return nil }
    for name in remote.cover(upTo: state.entry.sent, of: state.entry.generation)
    where name.kind == .delta {
      if try await !context.reader.hasBasis(of: name, in: remote) { return name }
    }
    return nil
  }
}

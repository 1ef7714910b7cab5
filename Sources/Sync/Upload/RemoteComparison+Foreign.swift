import Logging
import ObjectStore
import Platform
import Replica
import SessionLog

extension RemoteComparison {
  /// The session without objects that only somebody else can have written.
  ///
  /// What the local log has is compared with it. Where it has no bytes any more, or is not read for
  /// lack of consent, only objects count that the manifest knows: this home put them, or has begun
  /// to, or they were there when it had nothing else to believe. A home that lost its cache knows
  /// none.
  ///
  /// - Throws: ``Platform/SystemError``.
  func withoutForeignObjects(
    _ remote: RemoteSession, _ state: SessionState
  ) throws -> RemoteSession {
    guard state.isInManifest, state.entry.knowsObjects else { return remote }
    let log = state.consent == .logs ? state.view : nil
    let first = try log?.available().lowerBound ?? SegmentName.highestOffset
    // Somebody else's revision may name an earlier one.
    let generation = max(remote.generation, state.entry.generation)
    let unknown = writer.remote(state).generationsMissing(from: state.sidecar.former ?? [])
    let foreign = remote.segments.filter { name in
      let isLocal = name.generation >= generation && name.range.lowerBound >= first
      return !isLocal && !state.entry.knows(name) && !unknown.contains(name.generation)
    }
    guard let name = foreign.first else { return remote }
    context.logger.warning(
      "\(writer.folder.key)\(name.fileName) (1 of \(foreign.count)) was not put from here, and nothing here can prove it: it does not count"
    )
    return remote.keeping { !foreign.contains($0) }
  }

  /// The session without objects that do not hold what their names say, and may take the place of others:
  /// who reads the store knows the hash that fits the log.
  ///
  /// Reads those that the manifest does not know; if it knows none, because the cache was lost, only those
  /// beside others with some of the same bytes: the rest is read before a seal names it.
  ///
  /// - Returns: the session, and the objects that were read.
  /// - Throws: errors of the store.
  func withoutFalseObjects(
    _ remote: RemoteSession, _ state: SessionState
  ) async throws -> (remote: RemoteSession, proven: Set<SegmentName>) {
    guard state.consent == .logs else { return (remote, []) }
    let isKnown = state.isInManifest && state.entry.knowsObjects
    let candidates = isKnown ? Set(remote.segments) : remote.overlapping
    let unknown = candidates.filter { !state.entry.knows($0) }.sorted { $0.fileName < $1.fileName }
    var proven: Set<SegmentName> = []
    for name in unknown {
      do {
        try await context.reader.read(name, of: remote) { _ in }
        proven.insert(name)
      } catch let error as ReplicaError {
        context.logger.warning(
          "\(writer.folder.key)\(name.fileName) does not hold what its name says, and does not count: \(error)"
        )
      } catch let error as StoreError where error.isNotFound {
        continue
      }
    }
    let wrong = Set(unknown).subtracting(proven)
    return (wrong.isEmpty ? remote : remote.keeping { !wrong.contains($0) }, proven)
  }
}

import Logging
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
    let foreign = remote.segments.filter { name in
      let isLocal = name.generation >= generation && name.range.lowerBound >= first
      return !isLocal && !state.entry.knows(name)
    }
    guard let name = foreign.first else { return remote }
    context.logger.warning(
      "\(writer.folder.key)\(name.fileName) (1 of \(foreign.count)) was not put from here, and nothing here can prove it: it does not count"
    )
    return remote.keeping { !foreign.contains($0) }
  }
}

import Logging
import Platform
import Replica
import SessionLog

extension RemoteComparison {
  /// The session without objects that only somebody else can have written.
  ///
  /// What the local log has is compared with it. Where it has no bytes any more, only objects count
  /// that the manifest knows: this home put them, or they were there when it had nothing else to
  /// believe. A request whose result is unknown may have put others after those. A home that lost
  /// its cache knows none.
  ///
  /// - Throws: ``Platform/SystemError``.
  func withoutForeignObjects(
    _ remote: RemoteSession, _ state: SessionState
  ) throws -> RemoteSession {
    let known = state.entry.segments.filter { $0.key.generation == remote.generation }
    guard state.isInManifest, state.consent == .logs, let log = state.view,
      let end = known.keys.map(\.range.upperBound).max()
    else { return remote }
    let first = try min(
      log.available().lowerBound, state.entry.isDirty ? end : SegmentName.highestOffset)
    let foreign = remote.segments(of: remote.generation)
      .filter { $0.range.lowerBound < first && known[$0] == nil }
    guard let name = foreign.first else { return remote }
    context.logger.warning(
      "\(writer.folder.key)\(name.fileName) (1 of \(foreign.count)) was not put from here, and nothing here can prove it: it does not count"
    )
    return remote.keeping { !foreign.contains($0) }
  }
}

import Platform
package import Replica
import SessionLog

/// Salvages the readable bytes of a session that cannot be mirrored.
extension Puller {
  /// Writes the readable bytes beside the mirrored log's path, as `<session>.salvaged.log`, with a
  /// GAP line for each loss.
  ///
  /// The mirror itself stays as it is, so that the next pull tries again. Another file that an
  /// earlier pull salvaged is kept as `<session>.salvaged.2.log`, or with the next free number.
  ///
  /// - Parameters:
  ///   - remote: the session as a listing showed it.
  ///   - damage: called for each loss or doubt.
  /// - Returns: the file.
  /// - Throws: ``ObjectStore/StoreError`` except for a missing object, ``Platform/SystemError``,
  ///   ``Platform/SpaceShortage``.
  package func salvage(
    _ remote: RemoteSession, damage: (StreamDamage) -> Void
  ) async throws -> String {
    let folder = try mirror.makeDay(remote.folder)
    let files = MirroredFiles(of: remote.session, in: folder)
    let name = files.salvaged + ".log"
    var watch = try space.watch(0, in: folder.path, for: remote.session.description)
    let log = try MirrorReplacement(of: name, in: folder)
    func write(_ bytes: UnsafeRawBufferPointer) throws {
      try watch.count(bytes.count)
      try log.append(bytes)
    }
    try await RemoteReader(store, knowing: keys).salvage(remote) { part in
      switch part {
      case .bytes(let bytes): try write(bytes)
      case .damage(let found):
        damage(found)
        if found.isLost { try found.gapLine.withUnsafeBytes(write) }
      }
    }
    _ = try log.commit(keepingOldAs: files.salvaged)
    return folder.path(of: name)
  }
}

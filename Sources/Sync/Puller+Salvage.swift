public import Replica
import SessionLog

/// What can be read of a session that cannot be mirrored.
extension Puller {
  /// Writes it beside the place of the mirrored log, as `<session>.salvaged.log`, with a GAP line where
  /// bytes are lost.
  ///
  /// The mirror itself stays as it is, so that the next pull tries again.
  ///
  /// - Parameters:
  ///   - remote: the session as a listing showed it.
  ///   - damage: told of what is lost or in doubt.
  /// - Returns: the file.
  /// - Throws: ``ObjectStore/StoreError`` but for an object that is gone, ``SessionLog/SystemError``.
  public func salvage(
    _ remote: RemoteSession, damage: (StreamDamage) -> Void
  ) async throws -> String {
    let path = files(of: remote).salvaged
    let log = try MirrorFile(path)
    try log.truncate(to: 0)
    try await RemoteReader(store).salvage(remote) { part in
      switch part {
      case .bytes(let bytes): try log.append(bytes)
      case .damage(let found):
        damage(found)
        if found.isLost { try found.gapLine.withUnsafeBytes { try log.append($0) } }
      }
    }
    try log.synchronize()
    return path
  }
}

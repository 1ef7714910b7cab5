package import Platform
package import SessionLog

/// What happens during a pass, as it happens.
package enum UploadEvent: Sendable {
  /// An object was stored: log bytes it holds, and bytes that travelled.
  case sent(session: SessionID, logBytes: ByteCount, storedBytes: ByteCount)
  /// A session was sealed; `isTidy` when that made no object superfluous, for a later pass to delete.
  case sealed(session: SessionID, status: SessionStatus, isTidy: Bool)
  /// Superfluous objects of a session could not be deleted; nothing is lost by that.
  case leftBehind(session: SessionID, reason: String)
  /// A session could not be finished in this pass.
  case failed(session: SessionID, reason: String)
}

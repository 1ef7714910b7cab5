package import Platform
package import SessionLog

/// An event during a pass.
package enum UploadEvent: Sendable {
  /// An object was stored: log bytes in it, and bytes transferred.
  case sent(session: SessionID, logBytes: ByteCount, storedBytes: ByteCount)
  /// A session was sealed; `hasSuperseded` if that may have superseded objects.
  case sealed(session: SessionID, status: SessionStatus, hasSuperseded: Bool)
  /// A session was sealed with what had been sent of it, or is left of it, because that is not all
  /// of its log, or the store does not have it any more; or the store has bytes that its seal does not
  /// name.
  case sealedAsSent(session: SessionID, reason: String)
  /// Superseded objects of a session could not be deleted; no log bytes are lost.
  case supersededLeft(session: SessionID, reason: String)
  /// The time of the pass is over, and this many log bytes of a session are left to later ones.
  case leftToNextPass(session: SessionID, rest: ByteCount)
  /// A session could not be finished in this pass.
  case failed(session: SessionID, reason: String)
}

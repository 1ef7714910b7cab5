package import Replica
import SessionLog

extension SyncContext {
  /// Whether a session in the store was sent from this home, rather than by another device under the
  /// same session id.
  package func isOwn(_ session: DeviceSession) throws -> Bool {
    guard !device.ids.contains(session.device) else { return true }
    // A home that lost its device record does not know its former ids, but its sidecars do.
    let local = LocalSession(home, session.session)
    return try local.sidecar(device: device).sidecar.deviceId == session.device
  }
}

extension SyncContext {
  /// The objects that the local record of a seal names or, without a seal, the manifest.
  ///
  /// - Throws: errors of the manifest.
  func knownObjects(_ sidecar: Sidecar) throws -> Set<SegmentName> {
    let sealed = ((sidecar.objects ?? []) + (sidecar.basis ?? [])).compactMap(SegmentName.init)
    guard sealed.isEmpty, let entry = try manifest.entry(sidecar.sessionId) else {
      return Set(sealed)
    }
    return Set(entry.segments.keys)
  }

  /// Forgets how much of a session was sent, so that a listing decides; but not which objects are its own:
  /// anybody may have put others.
  ///
  /// - Parameter sidecar: its sidecar, before it is opened again.
  /// - Throws: errors of the manifest.
  func forgetSent(_ sidecar: Sidecar) throws {
    let (session, generation) = (sidecar.sessionId, sidecar.generation ?? 1)
    let names = try knownObjects(sidecar)
    let known = RemoteSession(
      folder: SessionFolder(device: sidecar.deviceId, session: session), session: session,
      segments: Array(names))
    try manifest.forget(
      session, except: names, of: generation, upTo: known.mark(of: generation))
  }
}

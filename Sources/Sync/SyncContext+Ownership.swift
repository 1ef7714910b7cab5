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

  /// The objects that the local record of a seal names or, without a seal, the manifest.
  ///
  /// - Throws: errors of the manifest.
  func knownObjects(_ sidecar: Sidecar) throws -> Set<SegmentName> {
    let sealed = Self.sealedObjects(sidecar)
    guard sealed.isEmpty, let entry = try manifest.entry(sidecar.sessionId) else { return sealed }
    return Set(entry.segments.keys)
  }

  private static func sealedObjects(_ sidecar: Sidecar) -> Set<SegmentName> {
    Set(((sidecar.objects ?? []) + (sidecar.basis ?? [])).compactMap(SegmentName.init))
  }

  /// Forgets how much of a session was sent, so that a listing decides; but not which segments are its
  /// own: anybody may have put others.
  ///
  /// - Parameter sidecar: its sidecar, before it is opened again.
  /// - Throws: errors of the manifest.
  func forgetSent(_ sidecar: Sidecar) throws {
    let session = sidecar.sessionId
    let sealed = Self.sealedObjects(sidecar)
    var known = UploadCheckpoint(boot: "")
    if !sealed.isEmpty {
      // Everything that a seal names was put, or compared with the log.
      known.generation = sidecar.generation ?? 1
      known.segments = Dictionary(uniqueKeysWithValues: sealed.map { ($0, false) })
      for name in sealed { known.own(name) }
    } else if let entry = try manifest.entry(session) {
      known.generation = entry.generation
      known.segments = entry.segments.mapValues { _ in false }
      for name in entry.own where known.segments[name] != nil { known.own(name) }
    }
    guard !known.segments.isEmpty else { return try manifest.forget(session) }
    known.sent =
      RemoteSession(
        folder: SessionFolder(device: sidecar.deviceId, session: session), session: session,
        segments: Array(known.segments.keys)
      ).mark(of: known.generation)
    known.isDirty = true
    try manifest.replace(known, of: session)
  }
}

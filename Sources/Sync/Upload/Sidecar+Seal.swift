import Replica
import SessionLog

/// A sidecar beside the seal that the store has.
extension Sidecar {
  /// Whether this home put a given seal into a store.
  func isSealed(by name: RevisionName, in store: String) -> Bool {
    seal?.revision == name.fileName && seal?.store == store
  }

  /// File names of the seal that this home put into a store, and of the objects that it names; none if
  /// the copy there was deleted on purpose.
  ///
  /// Only those of the session: a home's owner decides what its sidecars say.
  func sealedNames(in store: String) -> [String] {
    guard let seal, seal.store == store, remoteReapedAt == nil else { return [] }
    let segments = ((objects ?? []) + (basis ?? [])).filter {
      SegmentName($0)?.session == sessionId
    }
    return [seal.revision].filter { RevisionName($0)?.session == sessionId } + segments
  }

  /// The seal's sidecar, with this home's own fields.
  func asSealed(by seal: Sidecar) -> Sidecar {
    var sidecar = seal
    (sidecar.userId, sidecar.uid, sidecar.deviceId) = (userId, uid, deviceId)
    (sidecar.recorder, sidecar.source) = (recorder, source)
    (sidecar.previous, sidecar.signature) = (nil, nil)
    return sidecar
  }

  /// Whether the log was sealed in another store than the one at a location, and is still there as
  /// far as this home knows.
  func isSealedElsewhere(than store: String) -> Bool {
    guard let seal else { return false }
    return seal.store != store && remoteReapedAt == nil && !withholdsLog
  }

  /// Whether a listing lacks bytes that were sent before the consent withheld the rest of the log:
  /// no pass sends them again.
  func lacksSentPart(in remote: RemoteSession?) -> Bool {
    guard withholdsLog, let seal, seal.length > 0 else { return false }
    guard let remote else { return true }
    return !remote.holds(objects ?? [], length: seal.length) || !remote.holds(basis ?? [])
  }
}

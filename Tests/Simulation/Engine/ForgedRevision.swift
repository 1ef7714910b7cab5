import ObjectStore
import Platform
import Replica
import SessionLog

extension World {
  /// Writes a revision after a session's newest one, like somebody who may write to the store and
  /// does not have the device's key.
  func forgeRevision(_ object: Int, isReplay: Bool) {
    let keys = store.stored.keys.filter { RevisionName($0.lastPart) != nil }.sorted()
    guard !keys.isEmpty else { return }
    let key = keys[object % keys.count]
    let folder = key.dropLast(key.lastPart.count)
    guard let session = RevisionName(key.lastPart)?.session else { return }
    let revisions = keys.filter { $0.hasPrefix(folder) }
      .compactMap { RevisionName($0.lastPart) }.filter { $0.session == session }
      .sorted { $0.number < $1.number }
    guard let oldest = revisions.first, let newest = revisions.last else { return }
    let source = isReplay ? oldest : newest
    guard let json = store.stored[folder + source.fileName]?.bytes, source.matches(json) else {
      return
    }
    func write(_ json: [UInt8], _ status: SessionStatus, _ length: StreamOffset) {
      let name = RevisionName(
        session: session, number: newest.number + 1, status: status, generation: source.generation,
        length: length, json: json)
      store.write(folder + name.fileName, json)
    }
    if isReplay { return write(json, source.status, source.length) }
    guard var sidecar = try? Sidecar(json: json) else { return }
    let objects = (sidecar.objects ?? []).dropLast()
    (sidecar.status, sidecar.signature, sidecar.digest) = (.terminated, nil, nil)
    (sidecar.objects, sidecar.basis) = (Array(objects), [])
    guard let forged = try? sidecar.json() else { return }
    let end = objects.last.flatMap { SegmentName($0)?.range.upperBound } ?? .zero
    write(forged, .terminated, end)
  }
}

/// Judges whether readers believe revisions that no device sent.
enum ForgedRevision {
  /// A reader that knows a device's key believes no revision but those that the device sent.
  static func judge(_ remote: RemoteSession, in truth: TrueStore, _ world: World) async {
    let device = remote.folder.device
    guard let revision = remote.revision,
      !world.oracle.hasSent(remote.folder.key + revision.fileName),
      let key = try? DeviceKey.simulated(of: device, created: Timestamp(milliseconds: 0))
    else { return }
    let keys = KnownKeys(
      Home(path: world.folder),
      named: [device: .init(key.publicKey, since: Timestamp(milliseconds: 0))], own: nil)
    guard (try? await RemoteReader(truth, knowing: keys).accept(remote)) != nil else { return }
    world.oracle.report(
      .init(.reading, "a reader believed \(revision), which \(device) did not send"))
  }
}

extension DeviceKey {
  /// The key of a simulated device.
  static func simulated(of device: String, created: Timestamp) throws -> DeviceKey {
    try DeviceKey(deviceId: device, created: created, seed: Array(repeating: 7, count: 32))
  }
}

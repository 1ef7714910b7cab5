package import Logging
package import ObjectStore
package import Platform
package import Redaction
package import Replica
package import SessionLog
package import Sync

/// Opens a home for upload: the one way of the command line and of programs that embed the library.
extension SyncContext {
  /// Opens a home, and the key that signs its seals, without which readers that know the device's
  /// key refuse them.
  ///
  /// - Parameters:
  ///   - opened: the device's key, if it was read with other rights; nil to load or make it.
  ///   - trust: keys that a person has named, by device.
  /// - Throws: ``Platform/SystemError``, ``Replica/ReplicaError`` and ``Redaction/RedactionError``;
  ///   errors of the cache.
  package static func open(
    _ home: Home, of device: Device, on machine: Machine, store: any ObjectStore,
    transfers: Int?, redaction: RedactionRules, consent: Consent,
    ownership: SessionOwnership? = nil, limits: UploadLimits, signer opened: DeviceKey? = nil,
    trust: [String: KnownKeys.Key] = [:], logger: Logger = .off
  ) throws -> SyncContext {
    let signer = try opened ?? DeviceKey.loadIfRoom(home, device, on: machine)
    return try SyncContext(
      home: home, device: device, store: store, machine: machine, transfers: transfers,
      redaction: redaction, consent: consent, ownership: ownership, limits: limits, signer: signer,
      keys: KnownKeys(home, named: trust, own: signer, former: device.ids), logger: logger)
  }
}

extension DeviceKey {
  /// The key of a home's device; nil if it belongs to root, or if a full disk has no room for it once
  /// something was sent.
  ///
  /// Sessions sealed before the key exists began before it and need no signature, because a key that
  /// is made once something was sent says so; and their pass may be the one that makes room. Of a device
  /// that has sent nothing, a later key would say that nothing was ever unsigned.
  ///
  /// - Parameter home: the home that the key belongs to: in machine-wide mode root's.
  /// - Throws: like ``load(_:_:on:)``.
  package static func loadIfRoom(
    _ home: Home, _ device: Device, on machine: Machine
  ) throws -> DeviceKey? {
    do {
      return try load(home, device, on: machine)
    } catch let error as SystemError where error.isDiskFull {
      if device.hasSentNothing(from: home) { throw error }
      return nil
    }
  }
}

import Crypto
import Foundation
package import Platform
package import SessionLog

/// The key with which a device signs its seals, so that no other writer of the store can write in
/// its name.
package struct DeviceKey: Sendable, CustomStringConvertible, CustomReflectable {
  /// The device.
  package let deviceId: String
  /// When the key was created.
  package let created: Timestamp
  /// Whether the device had sent nothing before.
  package let isFirst: Bool
  /// What revisions state: sessions that began before may lack a signature; ``KnownKeys/always`` if
  /// none may.
  package var since: Timestamp { isFirst ? KnownKeys.always : created }
  /// The key that verifies its signatures.
  package let publicKey: PublicKey
  private let key: Curve25519.Signing.PrivateKey

  /// The file's content.
  private struct Record: Codable {
    let created: Timestamp
    let deviceId: String
    /// The key's 32 bytes in base64.
    let key: String
    /// Whether the device had sent nothing before; nil if it may have.
    var isFirst: Bool?

    init(created: Timestamp, deviceId: String, key: String, isFirst: Bool?) {
      (self.created, self.deviceId, self.key) = (created, deviceId, key)
      self.isFirst = isFirst
    }

    init(from decoder: any Decoder) throws {
      let fields = try decoder.container(keyedBy: FieldKey.self)
      created = try fields.decode(Timestamp.self, forKey: "created")
      deviceId = try fields.decode(String.self, forKey: "deviceId")
      key = try fields.decode(String.self, forKey: "key")
      isFirst = try fields.decodeIfPresent(Bool.self, forKey: "isFirst")
    }
  }

  /// Makes a key from its 32 bytes.
  ///
  /// - Throws: ``ReplicaError`` for another number of bytes.
  package init(
    deviceId: String, created: Timestamp, isFirst: Bool = false, seed: [UInt8]
  ) throws {
    guard let key = try? Curve25519.Signing.PrivateKey(rawRepresentation: seed) else {
      throw ReplicaError(.damagedObject, "a device key has 32 bytes, not \(seed.count)")
    }
    self.deviceId = deviceId
    self.created = created
    self.isFirst = isFirst
    self.key = key
    publicKey = PublicKey(key.publicKey.rawRepresentation)
  }

  /// The key of a home's device; created if missing, or if there are only other devices', as in a
  /// copied home.
  ///
  /// The keys of other devices stay beside it: a machine may come back to a home that several use. In
  /// machine-wide mode the device, and so its key, is root's: others have none.
  ///
  /// - Throws: ``Platform/SystemError``; ``ReplicaError`` for an invalid key file.
  package static func load(
    _ home: Home, _ device: Device, on machine: Machine
  ) throws -> DeviceKey? {
    if home.owner != nil, !Account.hasRootsRights { return nil }
    let path = home.keyPath
    if let key = try saved(home, device.deviceId) { return key }
    let folder = AtomicFile.directory(of: path)
    try Directory.makeOne(folder)
    // Of processes that start at once, one creates the key and the others read it.
    let lock = try Descriptor(openingDirectory: folder)
    _ = try? lock.lock(.exclusive, waits: true)
    defer { withExtendedLifetime(lock) {} }
    if let key = try saved(home, device.deviceId) { return key }
    // In machine-wide mode another user's home says nothing about the others.
    let isOwn = home.owner == nil || home.owner?.isRoot == true
    let isFirst = isOwn && device.hasSentNothing(from: home)
    if let other = try read(path) {
      try File.rename(path, to: home.keyPath(ofOther: other.deviceId) ?? path + ".former")
    }
    let seed = Array(Curve25519.Signing.PrivateKey().rawRepresentation)
    let key = try DeviceKey(
      deviceId: device.deviceId, created: machine.now(), isFirst: isFirst, seed: seed)
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .prettyPrinted]
    let record = Record(
      created: key.created, deviceId: key.deviceId, key: Data(seed).base64EncodedString(),
      isFirst: isFirst ? true : nil)
    try AtomicFile.write(Array(try encoder.encode(record)) + [0x0a], to: path, mode: 0o600)
    return key
  }

  /// The key of a device if the home has it and this user may read it.
  package static func find(_ home: Home, deviceId: String) -> DeviceKey? {
    try? saved(home, deviceId)
  }

  /// Another process may rename a key while this looks for it, but never back.
  private static func saved(_ home: Home, _ deviceId: String) throws -> DeviceKey? {
    if let key = try read(home.keyPath), key.deviceId == deviceId { return key }
    guard let path = home.keyPath(ofOther: deviceId), let key = try read(path) else { return nil }
    return key.deviceId == deviceId ? key : nil
  }

  private static func read(_ path: String) throws -> DeviceKey? {
    do {
      let file = try OpenFile(path)
      let status = try file.status()
      guard [0, Account.effective].contains(status.owner) else {
        throw ReplicaError(
          .damagedObject,
          "\(path) belongs to another user, who may know the key; remove it, and tell readers that know "
            + "this device's key about the new one")
      }
      // A backup may have been restored with other permissions.
      if status.rights & 0o077 != 0 { try? File.setMode(0o600, of: path) }
      let record = try JSONDecoder().decode(Record.self, from: Data(AtomicFile.read(file)))
      guard let seed = Data(base64Encoded: record.key), seed.count == 32 else {
        throw Self.damaged(path)
      }
      return try DeviceKey(
        deviceId: record.deviceId, created: record.created, isFirst: record.isFirst == true,
        seed: Array(seed))
    } catch let error as SystemError where error.isNotFound {
      return nil
    } catch is DecodingError {
      throw Self.damaged(path)
    }
  }

  private static func damaged(_ path: String) -> ReplicaError {
    ReplicaError(
      .damagedObject,
      "\(path) is not a device key; restore the file from a backup, or remove it: then the device gets "
        + "a new key, which readers that know the former one need")
  }

  /// Signs bytes.
  ///
  /// - Returns: 64 bytes.
  func signature(of message: [UInt8]) throws -> [UInt8] {
    Array(try key.signature(for: message))
  }

  /// The JSON of a seal with its signature.
  ///
  /// - Parameters:
  ///   - sidecar: the seal, without one.
  ///   - revision: its name as it would be without one; hash and size do not count.
  ///   - folder: the session's folder.
  package func sign(
    _ sidecar: Sidecar, as revision: RevisionName, in folder: SessionFolder
  ) throws -> [UInt8] {
    try SealSignature.sign(sidecar, as: revision, in: folder, by: self)
  }

  /// Omits the secret.
  package var description: String { "key \(publicKey.id) of device \(deviceId)" }

  /// Omits the secret.
  package var customMirror: Mirror { Mirror(self, children: ["publicKey": publicKey]) }
}

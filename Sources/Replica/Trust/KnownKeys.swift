import Foundation
package import Platform
package import SessionLog

/// The known signing keys of devices: those that a person named, this home's own, and for any other
/// device the first one seen.
package final class KnownKeys: Sendable {
  /// The time of a key that its device had before it sent anything: no session may be unsigned.
  static let always = Timestamp(milliseconds: 0)

  /// A key, and when it was created, or ``KnownKeys/always``; nil if unknown.
  package struct Key: Sendable, Equatable, Codable {
    let key: String
    var since: Timestamp?

    /// Describes a key.
    package init(_ key: PublicKey, since: Timestamp?) {
      (self.key, self.since) = (key.description, since)
    }
  }

  /// Keys that a person named, and this home's own, by device.
  private let named: [String: Key]
  /// The home that remembers the rest.
  private let home: Home
  /// The file in it.
  private var path: String { home.path + "/trust.json" }
  /// Keys seen, by device; nil until needed.
  private let seen = Guarded<[String: Key]?>(nil)
  /// This device's id, if its key is known.
  private let own: String?

  /// Makes a collection that remembers in a home the keys it sees.
  ///
  /// - Parameters:
  ///   - home: the home.
  ///   - named: keys that a person named, by device.
  ///   - own: this device's key; nil if unknown.
  ///   - former: ids that the home had before, whose keys it may still have.
  package init(_ home: Home, named: [String: Key], own: DeviceKey?, former: [String] = []) {
    self.home = home
    let made = former.compactMap { DeviceKey.find(home, deviceId: $0) }
      .map { ($0.deviceId, Key($0.publicKey, since: $0.since)) }
    var named = named.merging(made) { first, _ in first }
    if let own { named[own.deviceId] = Key(own.publicKey, since: own.since) }
    self.named = named
    self.own = own?.deviceId
  }

  /// The first key seen of a device.
  private func seen(_ device: String) throws -> Key? {
    try seen.withLock { seen in
      let all = try seen ?? Self.read(path)
      seen = all
      return all[device]
    }
  }

  private static func read(_ path: String) throws -> [String: Key] {
    do {
      return try JSONDecoder().decode([String: Key].self, from: Data(AtomicFile.read(path)))
    } catch let error as SystemError where error.isNotFound {
      return [:]
    } catch is DecodingError {
      throw ReplicaError(
        .damagedObject,
        "\(path) holds no keys of devices; put back the file from a backup, or remove it: then the "
          + "keys count that are seen first")
    }
  }

  /// Whether a device is this one, whose key is known.
  func isOwn(_ device: String) -> Bool { device == own }

  /// Verifies who signed a revision.
  ///
  /// One without a signature is accepted if no key of its device is known, or its session began
  /// before the second in which that key was created, unless the key came with the device's id.
  ///
  /// - Parameter json: the revision as stored.
  /// - Throws: ``ReplicaError`` if it is not its device's.
  func check(
    _ json: [UInt8], _ sidecar: Sidecar, _ revision: RevisionName, in folder: SessionFolder
  ) throws {
    let signer = try SealSignature.signer(of: json, sidecar, revision, in: folder)
    try check(signer, revision, in: folder, remembers: true)
  }

  private func check(
    _ signer: (key: PublicKey, since: Timestamp)?, _ revision: RevisionName,
    in folder: SessionFolder, remembers: Bool
  ) throws {
    let device = folder.device
    guard let signer else {
      guard try signs(device, revision.session) else { return }
      throw ReplicaError(
        .damagedObject,
        "\(folder.key)\(revision.fileName) is not signed, but device \(device) signs its revisions: "
          + "somebody else may have written it. \(repair(revision.session, of: device))")
    }
    let key = Key(signer.key, since: signer.since)
    guard let known = try named[device] ?? seen(device) else {
      return try remembers ? remember(key, of: device) : ()
    }
    guard known.key == key.key else {
      throw error(revision, folder, signer.key, known)
    }
    if remembers, known.since == nil { try remember(key, of: device) }
  }

  /// What the signature of a copy proves.
  package enum CopyProof: Sendable {
    /// That it is its device's.
    case proven
    /// Nothing, because no key of its device is known.
    case unknownKey
    /// Nothing, because there is none, and nothing shows that there has to be one.
    case unsigned
  }

  /// Verifies who signed the copy of a seal in a mirror; remembers no key, because anybody may have
  /// made the copy.
  ///
  /// - Parameters:
  ///   - json: the copy.
  ///   - length: the stream's length.
  /// - Throws: ``ReplicaError`` if it is not its device's, or lacks a signature and has other members
  ///   that only signed ones have.
  package func checkCopy(
    _ json: [UInt8], _ sidecar: Sidecar, length: StreamOffset, in folder: SessionFolder
  ) throws -> CopyProof {
    let revision =
      SealSignature.revision(of: json, sidecar, length: length, in: folder)
      ?? RevisionName(
        session: sidecar.sessionId, number: 1, status: sidecar.status,
        generation: sidecar.generation ?? 1, length: length, json: json)
    let signer = try SealSignature.signer(of: json, sidecar, revision, in: folder)
    try check(signer, revision, in: folder, remembers: false)
    guard signer == nil else {
      return try named[folder.device] ?? seen(folder.device) == nil ? .unknownKey : .proven
    }
    guard sidecar.previous == nil, sidecar.indexes == nil else {
      throw ReplicaError(
        .damagedObject,
        "\(folder.key)\(revision.fileName) is not signed, although the version that wrote it signs: somebody "
          + "else may have written it")
    }
    return .unsigned
  }

  /// Verifies that a session may lack a revision: not if it has segments and its device signs.
  ///
  /// - Throws: ``ReplicaError`` if it may not.
  func checkMissingRevision(of remote: RemoteSession) throws {
    let (device, session) = (remote.folder.device, remote.session)
    guard !remote.segments.isEmpty, try signs(device, session) else { return }
    throw ReplicaError(
      .damagedObject,
      "\(remote.folder.key)\(session) has log bytes, but no sidecar, which device \(device) signs: "
        + "somebody else may have written them, or it is being sent or deleted at this moment. Try "
        + "again in a while; if it stays so: \(repair(session, of: device))")
  }

  /// Whether a device's revisions of a session must be signed.
  private func signs(_ device: String, _ session: SessionID) throws -> Bool {
    let first = try seen(device)
    guard let known = named[device] ?? first else { return false }
    let since = known.since ?? (first?.key == known.key ? first?.since : nil)
    // The writer of an unsigned session chooses its id.
    guard let since, since > Self.always else { return true }
    // A session's id has whole seconds.
    return session.startedAt.milliseconds >= since.milliseconds / 1000 * 1000
  }

  private func repair(_ session: SessionID, of device: String) -> String {
    "'tidemark verify --repair \(session)'\(device == own ? "" : " on that device") sends what its "
      + "local log has, and seals it again; a mirror made by 'tidemark pull' keeps what it had"
  }

  private func error(
    _ revision: RevisionName, _ folder: SessionFolder, _ signer: PublicKey, _ known: Key
  ) -> ReplicaError {
    let advice =
      switch folder.device {
      case own:
        "Put back control/key.json from a backup of this home if it was lost; else 'tidemark verify "
          + "--repair' sends what the local log has, and seals it again"
      case let device where named[device] != nil:
        "If the device has another key now, which 'tidemark doctor' shows there, name it under "
          + "'trust:' in the configuration"
      default:
        "If the device has another key now, which 'tidemark doctor' shows there, remove its lines from "
          + path
      }
    return ReplicaError(
      .damagedObject,
      "\(folder.key)\(revision.fileName) is signed with another key (\(signer)): somebody else may "
        + "have written it. Device \(folder.device) is known by \(known.key). \(advice)")
  }

  private func remember(_ key: Key, of device: String) throws {
    try seen.withLock { seen in
      // Another process may have seen others meanwhile.
      var all = try Self.read(path)
      defer { seen = all }
      guard all[device] != key else { return }
      all[device] = key
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
      // Someone who only reads may not have a home yet.
      if !File.exists(home.path) { try home.create() }
      try AtomicFile.write(Array(try encoder.encode(all)) + [0x0a], to: path)
    }
  }
}

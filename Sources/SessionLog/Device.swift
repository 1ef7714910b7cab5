import Foundation
public import Platform

/// This machine, as its sessions name it.
///
/// The id is random: it contains no address of the machine.
public struct Device: Sendable, Equatable, Codable {
  /// 16 random lower-case characters, generated once.
  public let deviceId: String
  /// The host name.
  public let deviceName: String
  /// Hardware model, if known.
  public let deviceModel: String?
  /// Name and version of the operating system.
  public let osVersion: String
  /// Hash of the machine's own id, to detect a copied home; nil if the machine has none.
  public let machineId: String?
  /// When the id was created.
  public let created: Timestamp
  /// Ids that this home had on other machines.
  public let formerIds: [String]

  /// The ids that this home's sessions may have been sent under: the present one, then its former
  /// ones, the latest first.
  ///
  /// A former id may still be that of a machine which this home was copied from.
  package var ids: [String] {
    var known: Set<String> = []
    return ([deviceId] + formerIds.reversed()).filter { Self.isID($0) && known.insert($0).inserted }
  }

  /// Whether text has the form of a device's id, which becomes part of keys and paths.
  package static func isID(_ text: some StringProtocol) -> Bool {
    (1...64).contains(text.utf8.count)
      && text.utf8.allSatisfy { (0x61...0x7a).contains($0) || (0x30...0x39).contains($0) }
  }

  /// Reads the device record of a home; creates it if missing, with a new id if the home was copied
  /// from another machine.
  ///
  /// In machine-wide mode the record is root's: others only read it.
  ///
  /// - Throws: ``SystemError``.
  public static func load(_ home: Home, on machine: Machine = .current) throws -> Device {
    try load(home, on: machine, isAlone: false)
  }

  /// A record that is not saved, for reading a home that does not exist.
  package static func unsaved(on machine: Machine = .current) -> Device {
    make(on: machine, formerIds: [])
  }

  private static func make(on machine: Machine, formerIds: [String]) -> Device {
    let host = machine.host()
    return Device(
      deviceId: RandomName.make(16, machine.random), deviceName: host.name,
      deviceModel: host.model, osVersion: host.system, machineId: machine.machineId,
      created: machine.now(), formerIds: formerIds)
  }

  /// - Parameter isAlone: whether the caller holds the lock for creating the device.
  private static func load(_ home: Home, on machine: Machine, isAlone: Bool) throws -> Device {
    let machineId = machine.machineId
    let isShared = home.owner != nil
    let isOurs = !isShared || Account.hasRootsRights
    if isShared {
      if isOurs, MachineWide.isForeign(home.devicePath) { try File.remove(home.devicePath) }
      try MachineWide.checkIsRoots(home.devicePath)
    }
    var former: [String] = []
    do {
      let known = try JSONDecoder().decode(
        Device.self, from: Data(AtomicFile.read(home.devicePath)))
      let isHere = known.machineId == nil || machineId == nil || known.machineId == machineId
      if isHere || !isOurs { return known }
      former = known.formerIds + [known.deviceId]
    } catch let error as SystemError where error.isNotFound && isOurs {
      // The first start in this home.
    } catch is DecodingError where isOurs && !isAlone {
      // Another process may be renewing it.
    } catch is DecodingError where isOurs {
      try File.rename(home.devicePath, to: home.devicePath + ".damaged")
    }
    guard isAlone else {
      // Of processes that start at once, one generates the id and the others read it.
      let folder = try Descriptor(openingDirectory: home.path)
      _ = try? folder.lock(.exclusive, waits: true)
      return try load(home, on: machine, isAlone: true)
    }
    let device = make(on: machine, formerIds: former)
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .prettyPrinted]
    try AtomicFile.write(
      Array(try encoder.encode(device)) + [0x0a], to: home.devicePath,
      mode: isShared ? 0o644 : 0o600)
    return device
  }
}

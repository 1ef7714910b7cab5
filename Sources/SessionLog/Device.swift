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
  /// Ids that this home had, or has, on other machines.
  public let formerIds: [String]

  /// The ids that this home's sessions may have been sent under: the present one, then its former
  /// ones, the latest first.
  ///
  /// A former id may still be that of a machine which uses this home, or which it was copied from.
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
  /// A machine that uses the home in turn with others is again the device that it was. In
  /// machine-wide mode the record is root's: others only read it.
  ///
  /// - Throws: ``SystemError``.
  public static func load(_ home: Home, on machine: Machine) throws -> Device {
    try load(home, on: machine, isAlone: false)
  }

  /// The device that this machine is by a home's record, or else the one that the record names.
  ///
  /// Nothing is written, whichever machine this is.
  ///
  /// - Returns: nil if there is no readable record.
  package static func known(_ home: Home, on machine: Machine) -> Device? {
    guard home.owner == nil || !MachineWide.isForeign(home.devicePath),
      let file = try? DeviceFile.load(home)
    else { return nil }
    return file.device(on: machine, HomeVisit(home, by: machine)) ?? file.device
  }

  /// Whether this device has sent nothing yet, and its id was made by a version that signs all that
  /// it sends.
  ///
  /// - Parameter home: the home with its record.
  package func hasSentNothing(from home: Home) -> Bool {
    guard let file = try? DeviceFile.load(home), file.signs, file.device.deviceId == deviceId else {
      return false
    }
    // The durable record of used stores, and the cache, which versions without that record have.
    return [home.path + "/stores.json", home.cachePath + "/manifest.sqlite"]
      .allSatisfy(FileStatus.isAbsent)
  }

  /// A record that is not saved, for reading a home that does not exist.
  package static func unsaved(on machine: Machine) -> Device {
    make(on: machine, formerIds: [])
  }

  private static func make(on machine: Machine, formerIds: [String]) -> Device {
    Device(
      RandomName.make(16, machine.random), on: machine, created: machine.now(),
      formerIds: formerIds)
  }

  /// Reads the fields of a device from a home's record.
  public init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: FieldKey.self)
    deviceId = try fields.decode(String.self, forKey: "deviceId")
    deviceName = try fields.decode(String.self, forKey: "deviceName")
    deviceModel = try fields.decodeIfPresent(String.self, forKey: "deviceModel")
    osVersion = try fields.decode(String.self, forKey: "osVersion")
    machineId = try fields.decodeIfPresent(String.self, forKey: "machineId")
    created = try fields.decode(Timestamp.self, forKey: "created")
    formerIds = try fields.decode([String].self, forKey: "formerIds")
  }

  init(_ id: String, on machine: Machine, created: Timestamp, formerIds: [String]) {
    let host = machine.host()
    (deviceId, deviceName, deviceModel) = (id, host.name, host.model)
    (osVersion, machineId) = (host.system, machine.machineId)
    (self.created, self.formerIds) = (created, formerIds)
  }

  /// - Parameter isAlone: whether the caller holds the lock for changing the record.
  private static func load(_ home: Home, on machine: Machine, isAlone: Bool) throws -> Device {
    let isOurs = home.owner == nil || Account.hasRootsRights
    if home.owner != nil {
      if isOurs, MachineWide.isForeign(home.devicePath) { try File.remove(home.devicePath) }
      try MachineWide.checkIsRoots(home.devicePath)
    }
    let visit = HomeVisit(home, by: machine)
    var former: DeviceFile?
    do {
      var file = try DeviceFile.load(home)
      let device = file.device(on: machine, visit)
      guard isOurs else { return device ?? file.device }
      if let device {
        guard file.note(visit) else { return device }
        if isAlone {
          // If this cannot be written, the machine is a new device when it comes back.
          try? file.save(home)
          return device
        }
      } else {
        former = file
      }
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
      defer { withExtendedLifetime(folder) {} }
      _ = try? folder.lock(.exclusive, waits: true)
      return try load(home, on: machine, isAlone: true)
    }
    let formerIds = former.map { $0.device.formerIds + [$0.device.deviceId] }
    let device = try make(on: machine, formerIds: formerIds ?? home.devicesWithKeys())
    try DeviceFile(device, after: former, visit).save(home)
    return device
  }
}

import Foundation
import Platform

/// The content of `device.json`: the device of the machine that was new to the home last, and what
/// is known of each machine that uses it.
///
/// Several machines use one home in turn, or at once, if it is on a network share.
struct DeviceFile: Codable {
  /// The device of the machine that was new to the home last.
  let device: Device
  /// The machines, in the order in which they came.
  private var machines: [HomeMachine]
  /// Whether the device's id was made by a version that signs all that it sends.
  let signs: Bool

  /// Maximum number of machines to remember.
  private static let mostMachines = 32

  /// A record for a machine that is new to the home, or cannot be told from a copy of one that is
  /// not.
  init(_ device: Device, after former: DeviceFile?, _ visit: HomeVisit?) {
    self.device = device
    signs = true
    machines = former?.machines.filter { $0.last.machineId != visit?.machineId } ?? []
    // The home may be a copy now, while they continue with the original.
    for index in machines.indices { machines[index].hasReturned = false }
    if let visit { add(visit) }
  }

  init(from decoder: any Decoder) throws {
    device = try Device(from: decoder)
    let container = try decoder.container(keyedBy: FieldKey.self)
    // Records of earlier versions have none.
    machines = (try? container.decodeIfPresent([HomeMachine].self, forKey: "machines")) ?? []
    signs = (try? container.decodeIfPresent(Bool.self, forKey: "signs")) ?? false
  }

  func encode(to encoder: any Encoder) throws {
    try device.encode(to: encoder)
    var container = encoder.container(keyedBy: FieldKey.self)
    try container.encode(machines, forKey: "machines")
    if signs { try container.encode(true, forKey: "signs") }
  }

  /// Reads a home's record.
  ///
  /// - Throws: ``Platform/SystemError``; `DecodingError` if it is damaged.
  static func load(_ home: Home) throws -> DeviceFile {
    try JSONDecoder().decode(DeviceFile.self, from: Data(AtomicFile.read(home.devicePath)))
  }

  /// Replaces a home's record.
  func save(_ home: Home) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .prettyPrinted]
    try AtomicFile.write(
      Array(try encoder.encode(self)) + [0x0a], to: home.devicePath,
      mode: home.owner != nil ? 0o644 : 0o600)
  }

  /// The device that a machine is; nil if it is new to the home, or the home may be a copy.
  func device(on machine: Machine, _ visit: HomeVisit?) -> Device? {
    let isLast =
      device.machineId == nil || machine.machineId == nil || device.machineId == machine.machineId
    if isLast { return device }
    guard let visit, let own = machines.first(where: { $0.isSurely(visit) }) else { return nil }
    return Device(
      own.deviceId, on: machine, created: own.created,
      formerIds: (device.formerIds + [device.deviceId]).filter { $0 != own.deviceId })
  }

  /// Remembers that a known machine used the home.
  ///
  /// - Returns: whether that changes the record.
  mutating func note(_ visit: HomeVisit?) -> Bool {
    guard let visit else { return false }
    let isLast = device.machineId == visit.machineId
    guard let index = machines.firstIndex(where: { $0.last.machineId == visit.machineId }) else {
      guard isLast else { return false }
      add(visit)
      return true
    }
    let former = machines[index]
    machines[index].last = visit
    machines[index].hasReturned = !isLast
    return machines[index] != former
  }

  private mutating func add(_ visit: HomeVisit) {
    machines.append(HomeMachine(deviceId: device.deviceId, created: device.created, last: visit))
    machines = machines.suffix(Self.mostMachines)
  }
}

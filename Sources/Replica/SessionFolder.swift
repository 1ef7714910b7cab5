package import ObjectStore
import Platform
package import SessionLog

/// The remote folder of one device and start day; one listing of it describes all its sessions.
package struct SessionFolder: Sendable, Hashable {
  /// The device that recorded the sessions.
  package let device: String
  /// UTC day on which they started, `2026-01-22`.
  package let day: String

  /// The folder of a session.
  package init(device: String, session: SessionID) {
    self.init(device: device, day: session.day)
  }

  /// A folder from its parts, which the caller has validated.
  package init(device: String, day: String) {
    self.device = device
    self.day = day
  }

  /// The folder from its key in a listing of the device's folder.
  package init?(key: String) {
    let parts = key.fields(between: "/", omittingEmpty: false)
    guard parts.count == 4, parts[0] == "devices", parts[3].isEmpty,
      Device.isID(parts[1]), Self.isDay(parts[2])
    else { return nil }
    self.init(device: String(parts[1]), day: String(parts[2]))
  }

  /// The devices' folders in a store, device by device in the given order.
  ///
  /// - Throws: ``ObjectStore/StoreError``.
  package static func all(
    of devices: [String], in store: any ObjectStore
  ) async throws -> [SessionFolder] {
    try await devices.concurrentMap { try await store.listAll(deviceKey($0)).directories }
      .joined().compactMap(SessionFolder.init(key:))
  }

  /// The key prefix of every object in the folder, ending in a slash.
  package var key: String { "\(Self.deviceKey(device))\(day)/" }

  /// The key prefix of everything that a device has sent, ending in a slash.
  package static func deviceKey(_ device: String) -> String { "\(devicesKey)\(device)/" }

  /// The key prefix of all devices, ending in a slash.
  package static let devicesKey = "devices/"

  private static func isDay(_ name: Substring) -> Bool {
    let bytes = Array(name.utf8)
    return bytes.count == 10
      && bytes.enumerated().allSatisfy { index, byte in
        index == 4 || index == 7 ? byte == 0x2d : (0x30...0x39).contains(byte)
      }
  }
}

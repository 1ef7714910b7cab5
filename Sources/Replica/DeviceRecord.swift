import Foundation
package import ObjectStore
package import Platform
package import SessionLog

/// `device.json` in a store: advisory, and the only object that is ever rewritten.
package struct DeviceRecord: Sendable, Codable {
  /// The device's id.
  package let deviceId: String
  /// Its name for people.
  package let deviceName: String
  /// Hardware model, if known.
  package let deviceModel: String?
  /// Name and version of the operating system.
  package let osVersion: String
  /// When the id was created.
  package let created: Timestamp

  package init(_ device: Device) {
    deviceId = device.deviceId
    deviceName = device.deviceName
    deviceModel = device.deviceModel
    osVersion = device.osVersion
    created = device.created
  }

  private init(id: String) {
    deviceId = id
    deviceName = id
    deviceModel = nil
    osVersion = "unknown"
    created = Timestamp(milliseconds: 0)
  }

  package func json() throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(self), as: UTF8.self) + "\n"
  }

  /// Maximum size of a plausible record, in bytes.
  private static let largest: ByteCount = 64 << 10

  package static func key(_ device: String) -> String {
    SessionFolder.deviceKey(device) + "device.json"
  }

  /// All devices that have sent something; an unreadable record is replaced by one with the id as
  /// name.
  ///
  /// - Throws: ``ObjectStore/StoreError``.
  package static func all(in store: any ObjectStore) async throws -> [DeviceRecord] {
    let folders = try await store.listAll(SessionFolder.devicesKey).directories
    let ids = folders.map { String($0.dropFirst(SessionFolder.devicesKey.count).dropLast()) }
    return try await ids.filter(Device.isID).concurrentMap {
      try await read($0, in: store)
    }
  }

  /// Ids of all devices, starting with a given one; without a store only that one.
  ///
  /// - Throws: ``ObjectStore/StoreError``.
  package static func ids(in store: (any ObjectStore)?, first: String) async throws -> [String] {
    guard let store else { return [first] }
    return [first] + (try await all(in: store).map(\.deviceId).filter { $0 != first })
  }

  /// The record of a device; if it is unreadable, one with the id as name.
  ///
  /// - Throws: ``ObjectStore/StoreError``.
  package static func read(_ id: String, in store: any ObjectStore) async throws -> DeviceRecord {
    do {
      let json = try await store.get(key(id), atMost: largest)
      let record = try JSONDecoder().decode(DeviceRecord.self, from: Data(json))
      return record.deviceId == id ? record : DeviceRecord(id: id)
    } catch let error as StoreError where error.isNotFound || error.code == .integrity {
      return DeviceRecord(id: id)
    } catch is DecodingError {
      return DeviceRecord(id: id)
    }
  }
}

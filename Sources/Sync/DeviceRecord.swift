import Foundation
public import ObjectStore
public import Platform
import Replica
import SessionLog

/// `device.json` as others see it: advisory, and the only object that is ever rewritten.
public struct DeviceRecord: Sendable, Codable {
  /// The device's id.
  public let deviceId: String
  /// Its name for people.
  public let deviceName: String
  /// Hardware model, where known.
  public let deviceModel: String?
  /// Name and version of the operating system.
  public let osVersion: String
  /// When the id was made.
  public let created: Timestamp

  init(_ device: Device) {
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

  func json() throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(self), as: UTF8.self) + "\n"
  }

  /// A larger one is no device's, in bytes.
  private static let largest: Int64 = 64 << 10

  static func key(_ device: String) -> String { SessionFolder.deviceKey(device) + "device.json" }

  /// All devices that have sent something; one whose record cannot be read goes by its id.
  ///
  /// - Throws: ``ObjectStore/StoreError``.
  public static func all(in store: any ObjectStore) async throws -> [DeviceRecord] {
    let folders = try await store.listAll(SessionFolder.devicesKey).directories
    let ids = folders.map { String($0.dropFirst(SessionFolder.devicesKey.count).dropLast()) }
    return try await ids.filter(SessionFolder.isDevice).concurrentMap {
      try await record(of: $0, in: store)
    }
  }

  /// Ids of all devices, one of them first; only that one where there is no store.
  ///
  /// - Throws: ``ObjectStore/StoreError``.
  public static func ids(in store: (any ObjectStore)?, first: String) async throws -> [String] {
    guard let store else { return [first] }
    return [first] + (try await all(in: store).map(\.deviceId).filter { $0 != first })
  }

  private static func record(of id: String, in store: any ObjectStore) async throws -> DeviceRecord
  {
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

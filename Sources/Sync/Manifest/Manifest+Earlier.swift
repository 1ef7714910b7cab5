import Foundation
import GRDB
import Replica
import SessionLog

/// Keys of rows: the store and the device; in earlier versions the store alone.
extension Manifest {
  /// The key of a device's rows of a store.
  static func key(_ location: String, _ device: String) -> String { "\(location) \(device)" }

  /// The store's location in a key of this or an earlier version.
  static func location(_ key: String) -> String {
    guard let space = key.lastIndex(of: " "),
      Device.isID(key[key.index(after: space)...])
    else { return key }
    return String(key[..<space])
  }

  /// Adopts rows of an earlier version if this device wrote them, and drops them otherwise.
  ///
  /// An earlier version that runs again then has to list its sessions: its rows would no longer be
  /// correct.
  ///
  /// - Parameters:
  ///   - location: the store's location, their key.
  ///   - key: the new key.
  ///   - device: id of this device.
  static func adoptRows(
    of location: String, as key: String, device: String, in queue: DatabaseQueue
  ) throws {
    let record = try queue.query {
      try Row.fetchOne($0, sql: "SELECT device FROM store WHERE url = ?", arguments: [location])
    }
    guard let record else { return }
    let json: String? = (try? record.value("device")) ?? nil
    let writer = json.flatMap {
      try? JSONDecoder().decode(DeviceRecord.self, from: Data($0.utf8)).deviceId
    }
    try queue.change { database in
      for (table, column) in [
        ("session", "store"), ("segment", "store"), ("remains", "store"), ("store", "url"),
      ] {
        if writer == device {
          try database.execute(
            sql: "UPDATE OR REPLACE \(table) SET \(column) = ? WHERE \(column) = ?",
            arguments: [key, location])
        } else {
          try database.execute(
            sql: "DELETE FROM \(table) WHERE \(column) = ?", arguments: [location])
        }
      }
    }
  }
}

import LogRecords
import Platform
import Replica
import SessionLog
import SessionReading

/// Sessions grouped by device, and devices by user: `list --tree`.
struct SessionTree {
  /// A user, or a device without a known user, with its contents.
  struct Branch {
    let name: String
    let devices: [(id: String, title: String, entries: [SessionCatalog.Entry])]
  }

  let branches: [Branch]

  /// Groups sessions; each group takes the position of its newest session.
  init(_ entries: [SessionCatalog.Entry]) {
    branches = Self.group(entries) { Self.root(of: $0.sidecar) }.map { root, entries in
      Branch(
        name: root,
        devices: Self.group(entries) { $0.sidecar.deviceId }.map { id, entries in
          (id, Self.title(of: entries[0].sidecar), entries)
        })
    }
  }

  private static func group(
    _ entries: [SessionCatalog.Entry], by key: (SessionCatalog.Entry) -> String
  ) -> [(String, [SessionCatalog.Entry])] {
    var order: [String] = []
    let groups = Dictionary(grouping: entries) { entry in
      let key = key(entry)
      if !order.contains(key) { order.append(key) }
      return key
    }
    return order.map { ($0, groups[$0] ?? []) }
  }

  /// The user's name, else the device's id.
  static func root(of sidecar: Sidecar) -> String {
    sidecar.userId.isEmpty || sidecar.userId == "unknown" ? sidecar.deviceId : sidecar.userId
  }

  /// Name, model and id: two devices may share name and model.
  private static func title(of sidecar: Sidecar) -> String {
    let details = [sidecar.deviceModel, sidecar.deviceId].compactMap(\.self).joined(separator: ", ")
    return "\(sidecar.deviceName) (\(details))"
  }

  /// Prints the tree.
  ///
  /// - Parameters:
  ///   - row: formats a session in one line.
  ///   - lines: the last lines of a session.
  func print(
    row: (SessionCatalog.Entry) -> String, lines: (SessionCatalog.Entry) async throws -> [String]
  ) async throws {
    for branch in branches {
      Console.say(Console.paint(String(oneLine: branch.name), .bold))
      for device in branch.devices {
        Console.say("  " + String(oneLine: device.title))
        for entry in device.entries {
          Console.say("    " + row(entry))
          for line in try await lines(entry) { Console.say("      " + String(oneLine: line)) }
        }
      }
    }
  }
}

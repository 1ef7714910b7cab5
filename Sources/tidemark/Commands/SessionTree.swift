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
  private let sessions: [DeviceSession]

  /// Groups sessions; each group takes the position of its newest session.
  init(_ entries: [SessionCatalog.Entry]) {
    sessions = entries.map(\.deviceSession)
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
  ///   - table: the sessions, in the order that the tree was made from.
  ///   - width: the width to fit lines into; nil for none.
  ///   - say: prints a line.
  ///   - lines: the last lines of a session.
  /// - Returns: titles of omitted columns.
  func print(
    _ table: Table, width: Int?, _ say: (String) -> Void,
    lines: (SessionCatalog.Entry) async throws -> [String]
  ) async throws -> [String] {
    // As wide as the widest of all, so that devices can be compared.
    let rendering = table.render(width: width.map { max(1, $0 - 4) }, paint: Console.paint)
    let rows = rendering.lines
    let texts = Dictionary(zip(sessions, rows.dropFirst())) { first, _ in first }
    func put(_ depth: Int, _ line: String) -> String {
      let text = String(oneLine: line)
      return String(repeating: " ", count: depth)
        + (width.map { text.cut(to: max(1, $0 - depth)) } ?? text)
    }
    rows.first.map { say("    " + $0) }
    for branch in branches {
      say(Console.paint(put(0, branch.name), .bold))
      for device in branch.devices {
        say(put(2, device.title))
        for entry in device.entries {
          say("    " + (texts[entry.deviceSession] ?? entry.session.description))
          for line in try await lines(entry) { say(put(6, line)) }
        }
      }
    }
    return rendering.omitted
  }
}

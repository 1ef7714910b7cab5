import LogRecords
import Platform
import SessionLog

/// Labels that distinguish the lines of several sessions.
package struct SessionLabels {
  private let hasManyDevices: Bool
  /// Maximum length of a device's name, which each line of its sessions repeats.
  private static let longestName = 64

  package init(_ entries: [SessionCatalog.Entry]) {
    hasManyDevices = Set(entries.map(\.sidecar.deviceId)).count > 1
  }

  /// The session, after its device if there are several devices.
  package subscript(_ entry: SessionCatalog.Entry) -> String {
    guard hasManyDevices else { return entry.session.description }
    let device = String(oneLine: entry.sidecar.deviceName, limit: Self.longestName)
    return "\(device)/\(entry.session)"
  }
}

import LogRecords
import SessionLog

/// Labels that distinguish the lines of several sessions.
package struct SessionLabels {
  private let hasManyDevices: Bool

  package init(_ entries: [SessionCatalog.Entry]) {
    hasManyDevices = Set(entries.map(\.sidecar.deviceId)).count > 1
  }

  /// The session, after its device if there are several devices.
  package subscript(_ entry: SessionCatalog.Entry) -> String {
    guard hasManyDevices else { return entry.session.description }
    let device = String(printable: entry.sidecar.deviceName.utf8).replacing("\n", with: " ")
    return "\(device)/\(entry.session)"
  }
}

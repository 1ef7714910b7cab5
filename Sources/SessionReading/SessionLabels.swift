import LogRecords
import Platform
import Replica
import SessionLog

/// Labels that distinguish the lines of several sessions.
package struct SessionLabels {
  private let hasManyDevices: Bool
  /// Ids that several of the sessions have, of different devices.
  private let shared: Set<SessionID>
  /// Maximum length of a device's name, which each line of its sessions repeats.
  private static let longestName = 64

  package init(_ entries: [SessionCatalog.Entry]) {
    hasManyDevices = Set(entries.map(\.sidecar.deviceId)).count > 1
    shared = Set(Dictionary(grouping: entries, by: \.session).filter { $0.value.count > 1 }.keys)
  }

  /// Whether another device's session has the same id.
  package func sharesID(_ entry: SessionCatalog.Entry) -> Bool { shared.contains(entry.session) }

  /// The session, after its device's name if there are several devices, or its id if names do not
  /// distinguish them.
  package subscript(_ entry: SessionCatalog.Entry) -> String {
    guard hasManyDevices else { return entry.session.description }
    guard !sharesID(entry) else { return entry.deviceSession.name }
    let device = String(oneLine: entry.sidecar.deviceName, limit: Self.longestName)
    return "\(device)/\(entry.session)"
  }
}

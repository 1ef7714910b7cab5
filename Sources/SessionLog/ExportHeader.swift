import LogRecords
import Platform

/// The lines before the log in an export.
package enum ExportHeader {
  /// A block of `Field: value` lines that describes a session.
  ///
  /// - Parameters:
  ///   - sidecar: the session's sidecar.
  ///   - clock: the correction of the log's times; nil for none.
  package static func text(of sidecar: Sidecar, clock: Duration? = nil) -> String {
    let cause = sidecar.cause.map { " (\($0))" } ?? ""
    var fields: [(String, String)] = [
      ("Device", "\(sidecar.deviceName) (\(sidecar.deviceId))"),
      ("Model", sidecar.deviceModel ?? "unknown"),
      ("OS", sidecar.osVersion), ("App", sidecar.appName),
      ("App version", sidecar.appVersion ?? "unknown"),
      ("Build number", sidecar.buildNumber ?? "unknown"), ("User", sidecar.userId),
      ("Session", sidecar.sessionId.description), ("Started", sidecar.startedAt.description),
      ("Ended", sidecar.endedAt?.description ?? "-"), ("Status", sidecar.status.rawValue + cause),
    ]
    if let lost = sidecar.lost {
      fields.append(("Lost", lost > 0 ? "its last \(lost) bytes" : "its end"))
    }
    if let core = sidecar.crash?.core { fields.append(("Core file", core)) }
    if let clock { fields.append(("Clock offset", "\(clock.milliseconds) ms")) }
    let lines = fields.map { "\($0): \(String(printable: $1.utf8).replacing("\n", with: " "))\n" }
    return "=== Device Info ===\n" + lines.joined()
  }

  /// The line that ends the headers of an export.
  package static let end = "=== Log ===\n"
}

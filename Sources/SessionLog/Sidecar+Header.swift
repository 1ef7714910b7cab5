import LogRecords
import Platform

extension Sidecar {
  /// The header of a session's log in an export: a block of `Field: value` lines.
  ///
  /// - Parameter clock: the correction of the log's times; nil for none.
  package func header(clock: Duration? = nil) -> String {
    let cause = cause.map { " (\($0))" } ?? ""
    var fields: [(String, String)] = [
      ("Device", "\(deviceName) (\(deviceId))"), ("Model", deviceModel ?? "unknown"),
      ("OS", osVersion), ("App", appName), ("App version", appVersion ?? "unknown"),
      ("Build number", buildNumber ?? "unknown"), ("User", userId),
      ("Session", sessionId.description), ("Started", startedAt.description),
      ("Ended", endedAt?.description ?? "-"), ("Status", status.rawValue + cause),
    ]
    if let core = crash?.core { fields.append(("Core file", core)) }
    if let clock { fields.append(("Clock offset", "\(clock.milliseconds) ms")) }
    let lines = fields.map { "\($0): \(String(printable: $1.utf8).replacing("\n", with: " "))\n" }
    return "=== Device Info ===\n" + lines.joined()
  }

  /// The line that ends the headers of an export.
  package static let logMark = "=== Log ===\n"
}

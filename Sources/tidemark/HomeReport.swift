import Foundation
import Platform
import SessionLog

/// What `status` shows of a home; root gets another user's from a process of its own.
struct HomeReport: Codable {
  /// For a person; empty if it is for a program.
  private(set) var lines: [ReportLine] = []
  /// For a program: one JSON object.
  private var json: String?
  /// Whether the exit code is to be 75.
  let isOverdue: Bool
  /// Whether somebody has to act.
  let isPartial: Bool

  /// Examines a home.
  ///
  /// - Throws: errors of its files.
  init(on setup: CommandContext, asJSON: Bool, _ zone: LocalZone) throws {
    let report = try Status.report(on: setup)
    isOverdue = report.stale || report.isDiskFull || report.lockedSince != nil
    isPartial = report.isPartial
    if asJSON {
      json = try Console.json(report)
    } else {
      lines = Status.lines(
        of: report, setup.reasonNotToSend, device: setup.device.deviceId, at: .now(), zone)
    }
  }

  /// The report as that of one user's home alone, whatever its user made of it.
  ///
  /// - Throws: ``Failure`` for JSON of another home.
  func checked(for home: Home) throws(Failure) -> HomeReport {
    var checked = self
    // Its user may have written any text, which the initializer escapes.
    checked.lines = lines.map { ReportLine($0.text, $0.colour, indent: $0.indent) }
    guard let json else { return checked }
    let value = try? JSONSerialization.jsonObject(with: Data(json.utf8))
    let object = value as? [String: Any]
    guard !json.utf8.contains(0x0a), object?["home"] as? String == home.path,
      object?["user"] as? String == home.owner?.name
    else { throw Failure(.partial, "not examined: its process reported on something else") }
    return checked
  }

  /// Prints it.
  func show() {
    if let json { Console.say(json) }
    for line in lines { Console.say(line) }
  }
}

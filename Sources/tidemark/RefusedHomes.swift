import Platform
import SessionLog

/// Folders that are named like a user's home but do not belong to that user.
///
/// Those users' programs are not recorded meanwhile, so this is reported even without a terminal:
/// once an hour, and whenever it changes.
struct RefusedHomes {
  private let report: HourlyReport

  /// - Parameter home: root's home, which records the last report.
  init(_ home: Home) { report = HourlyReport(home, name: "refused-homes") }

  /// Reports them if due.
  func report(_ refused: [(path: String, reason: String)]) {
    guard !refused.isEmpty else { return }
    let lines = refused.map { path, reason in
      "left alone: \(path): \(reason). Move it away if it is not to stay; the next upload as root makes "
        + "the home of the user that it is named for"
    }
    let isDue = report.isDue(lines.joined(separator: "\n"), at: .now())
    guard isDue || Console.errorIsTerminal else { return }
    for line in lines { Console.complain(line) }
  }
}

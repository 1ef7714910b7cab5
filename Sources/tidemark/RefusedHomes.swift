import Platform
import SessionLog

/// Folders that have the name of a user's home, and are not that user's.
///
/// The user's programs are not recorded meanwhile, so it is reported without a terminal too: once an
/// hour, and as soon as it changes.
struct RefusedHomes {
  private let report: HourlyReport

  /// - Parameter home: root's, which keeps what was reported last.
  init(_ home: Home) { report = HourlyReport(home, name: "refused-homes") }

  /// Reports them, where that is due.
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

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
    let lines = Self.lines(refused)
    guard !lines.isEmpty else { return }
    let isDue = report.isDue(lines.joined(separator: "\n"), at: .now())
    guard isDue || Console.errorIsTerminal else { return }
    for line in lines { Console.complain(line) }
  }

  /// Any user may make many such folders: a few are named.
  static func lines(_ refused: [(path: String, reason: String)]) -> [String] {
    let named = refused.prefix(mostNamed).map { path, reason in
      "left alone: \(path): \(reason). Move it away if it is not to stay; the next upload as root makes "
        + "the home of the user that it is named for"
    }
    let others = refused.count - named.count
    return others > 0 ? named + ["left alone: \(Plural.text(others, "more folder"))"] : named
  }

  private static let mostNamed = 10
}

import Platform
import SessionLog

/// Folders that are named like a user's home but do not belong to that user.
///
/// Those users' programs are not recorded meanwhile, so this is reported even without a terminal:
/// once an hour, and whenever it changes.
struct RefusedHomes {
  private let report: HourlyReport

  /// - Parameter home: root's home, which records the last report.
  init(_ home: Home) { report = HourlyReport(home, .refusedHomes) }

  /// Reports them if due.
  func report(_ refused: [RefusedHome]) {
    let lines = Self.lines(refused)
    guard !lines.isEmpty else { return }
    let isDue = report.isDue(lines.joined(separator: "\n"), at: .now())
    guard isDue || Console.errorIsTerminal else { return }
    for line in lines { Console.complain(line) }
  }

  /// Any user may make many such folders: a few are named.
  static func lines(_ refused: [RefusedHome]) -> [String] {
    let named = refused.prefix(mostNamed).map(\.line)
    let others = refused.count - named.count
    return others > 0 ? named + ["skipped: \(Plural.text(others, "more folder"))"] : named
  }

  private static let mostNamed = 10
}

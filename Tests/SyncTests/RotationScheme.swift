import TestSupport

@testable import Sync

/// How programs name their logs and begin them, how these are rotated, and how a pattern leads to them.
struct RotationScheme: CustomStringConvertible {
  /// Where the pattern looks for the logs.
  enum Place: CaseIterable {
    case folder
    /// The folder of the pattern is a link.
    case linkedFolder
    /// The logs are links, as kubelet makes them.
    case linkedFiles
  }

  enum Move: CaseIterable { case rename, copyTruncate }

  enum Naming: CaseIterable {
    /// `app.log.1`, `app.log.2`
    case numbered
    /// `app.log-2026010107`
    case dated
    /// `app.1.log`, `app.2.log`
    case beforeEnding
    /// `app.log.old`, written over each time
    case fixed
  }

  enum Compression: CaseIterable { case none, atOnce, delayed }

  let names: [String]
  /// What each log begins with.
  let heading: String
  let place: Place
  /// The pattern within the folder.
  let pattern: String
  let move: Move
  let naming: Naming
  let compression: Compression
  /// Whether rotated logs go to a folder below, as with logrotate's `olddir`.
  let isOldAside: Bool
  let idleEnd: Int64

  /// Whether logs have the same heading, and more of it than is compared first.
  var hasLongHeading: Bool { heading.utf8.count > FileContent.headLength }

  var description: String {
    "\(names) heading \(heading.utf8.count) \(place) \(pattern) \(move) \(naming) \(compression) "
      + "\(isOldAside ? "olddir " : "")idle \(idleEnd)"
  }

  /// Draws a scheme.
  init(_ random: inout SeededGenerator) {
    func draw<Value>(_ values: [Value], or first: Value) -> Value {
      values.randomElement(using: &random) ?? first
    }
    naming = draw(Naming.allCases, or: .numbered)
    names = draw(
      [
        ["app.log"], ["app.log", "app.error.log"], ["web.access.log", "web.error.log"],
        // The name of a log may look like another's rotated one, if rotation does not use it.
        naming == .beforeEnding ? ["m-a.log", "m.log"] : ["m.2.log", "m.log"],
        ["messages.log", "syslog.log", "syslog2.log"],
      ], or: [])
    let banner = String(repeating: "# a banner of some length\n", count: 180)
    heading = draw(["", "", "time,host,value\n", banner], or: "")
    place = draw(Place.allCases, or: .folder)
    pattern = draw(place == .linkedFiles ? ["*.log"] : ["**", "*", "*.log", "*.log*"], or: "**")
    move = draw(Move.allCases, or: .rename)
    compression = draw(Compression.allCases, or: .none)
    isOldAside = draw([false, false, true], or: false)
    idleEnd = draw([3600, 10 * 86_400], or: 3600)
  }
}

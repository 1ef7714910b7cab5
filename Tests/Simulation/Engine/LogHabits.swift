import TestSupport

/// How other programs write and rotate their logs, and which of them are attached.
package struct LogHabits: Hashable, Sendable {
  /// Length of the heading that every log begins with, in bytes.
  package var heading = 0
  /// Whether a rotated log keeps its name, as one with a date does, instead of being numbered by age.
  package var keepsNames = false
  /// Whether the configuration's pattern matches rotated logs, too.
  package var attachesRotated = true
  /// Whether rotated logs go to a folder in that of the logs, as with logrotate's `olddir`.
  package var hasOldFolder = false

  /// Describes habits.
  package init(
    heading: Int = 0, keepsNames: Bool = false, attachesRotated: Bool = true,
    hasOldFolder: Bool = false
  ) {
    (self.heading, self.keepsNames) = (heading, keepsNames)
    (self.attachesRotated, self.hasOldFolder) = (attachesRotated, hasOldFolder)
  }

  /// Draws habits; half of all programs write no heading.
  init(_ random: inout SeededGenerator) {
    // Shorter and longer than what identifies a file.
    let headings = [0, 0, 0, 300, 4095, 4096, 6000]
    self.init(
      heading: headings.randomElement(using: &random) ?? 0, keepsNames: Bool.random(using: &random),
      attachesRotated: Bool.random(using: &random), hasOldFolder: Bool.random(using: &random))
  }

  /// Changes that make habits simpler.
  static let simplifications: [@Sendable (inout Self) -> Void] = [
    { $0.heading = 0 }, { $0.keepsNames = false }, { $0.attachesRotated = true },
    { $0.hasOldFolder = false },
  ]

  /// The pattern of the logs that are attached, in a folder.
  func pattern(in folder: String) -> String {
    folder + (!attachesRotated ? "/*.log" : hasOldFolder ? "/**" : "/*")
  }

  /// The folder of rotated logs, below that of the logs.
  static let oldFolder = "/old"

  /// The path of a log's rotated logs, before what rotation appends.
  func rotatedPath(of path: String) -> String {
    guard hasOldFolder, let slash = path.lastIndex(of: "/") else { return path }
    return path[..<slash] + Self.oldFolder + path[slash...]
  }

  /// The habits as Swift source.
  var source: String {
    "init(heading: \(heading), keepsNames: \(keepsNames), attachesRotated: \(attachesRotated), "
      + "hasOldFolder: \(hasOldFolder))"
  }

  /// What every log begins with.
  var headingText: [UInt8] {
    heading == 0 ? [] : [UInt8](repeating: UInt8(ascii: "#"), count: heading - 1) + [0x0a]
  }
}

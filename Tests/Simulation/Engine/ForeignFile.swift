import Foundation
import Platform
import TestSupport

/// Another program's log, and its rotated logs.
struct ForeignFile {
  /// A line, unique in its world.
  typealias Line = [UInt8]

  /// The path of the current log.
  let path: String
  /// The path of its rotated logs, before what rotation appends.
  let rotatedPath: String
  private let habits: LogHabits
  private let disk: Disk
  /// Rotated logs, the latest first.
  private var rotated: [String] = []
  private var rotations = 0
  /// Whether the program may still be writing to the log that was rotated last.
  private var isStillWritten = false

  /// The most rotated logs that are kept.
  private static let kept = 4

  init(_ path: String, _ habits: LogHabits, _ disk: Disk) throws {
    (self.path, self.habits, self.disk) = (path, habits, disk)
    rotatedPath = habits.rotatedPath(of: path)
    try FileManager.default.createDirectory(
      atPath: (rotatedPath as NSString).deletingLastPathComponent,
      withIntermediateDirectories: true)
  }

  /// The paths of all logs in a folder, and of those that were moved to the folder in it.
  static func paths(in folder: String) throws -> [String] {
    let old = folder + LogHabits.oldFolder
    let folders = try FileStatus(old) == nil ? [folder] : [folder, old]
    return try folders.flatMap { folder in
      try Directory.names(in: folder).map { "\(folder)/\($0)" }.filter { $0 != old }
    }
  }

  /// Its length in bytes; 0 when it is missing.
  var length: Int { get throws { try FileStatus(path).map { Int($0.length) } ?? 0 } }

  /// The log that was rotated last, if the program may still be writing to it.
  var late: String? {
    rotated.first.flatMap { isStillWritten && File.exists($0) ? $0 : nil }
  }

  /// Appends lines, after the heading in an empty log.
  func append(_ lines: [Line], at time: Timestamp) throws {
    try append((length == 0 ? habits.headingText : []) + lines.joined(), to: path, at: time)
  }

  /// Appends lines to the log that was rotated last.
  func appendLate(_ lines: [Line], at time: Timestamp) throws {
    guard let late else { return }
    try append(Array(lines.joined()), to: late, at: time)
  }

  private func append(_ bytes: [UInt8], to path: String, at time: Timestamp) throws {
    let file = try Descriptor(opening: path, [.write, .create, .append])
    try bytes.withUnsafeBytes { try file.write($0) }
    disk.changed(path, at: time)
  }

  /// Rotates the log, as logrotate does.
  mutating func rotate(_ rotation: Action.Rotation, at time: Timestamp) throws {
    guard File.exists(path) else { return }
    rotations += 1
    try shift(at: time)
    let old = habits.keepsNames ? "\(rotatedPath)-\(20_260_000 + rotations)" : "\(rotatedPath).1"
    if rotation == .copyTruncate {
      try Data(contentsOf: URL(filePath: path)).write(to: URL(filePath: old))
      truncate(path, 0)
      disk.changed(path, at: time)
      disk.changed(old, at: time)
    } else {
      try File.rename(path, to: old)
      disk.renamed(old, at: time)
      try append([], to: path, at: time)
    }
    rotated.insert(old, at: 0)
    isStillWritten = [.create, .delayCompress].contains(rotation)
    switch rotation {
    case .create, .copyTruncate: break
    case .compress: try compress(0, at: time)
    case .delayCompress: if rotated.count > 1 { try compress(1, at: time) }
    }
  }

  /// Makes room for one more rotated log.
  private mutating func shift(at time: Timestamp) throws {
    rotated.removeAll { !File.exists($0) }
    for path in rotated.dropFirst(Self.kept) { try File.remove(path) }
    rotated = Array(rotated.prefix(Self.kept))
    guard !habits.keepsNames else { return }
    for index in rotated.indices.reversed() {
      let name =
        "\(rotatedPath).\(index + 2)\(Self.isCompressed(rotated[index]) ? Self.ending : "")"
      guard name != rotated[index] else { continue }
      try File.rename(rotated[index], to: name)
      disk.renamed(name, at: time)
      rotated[index] = name
    }
  }

  private static let ending = ".zst"

  private static func isCompressed(_ path: String) -> Bool { path.hasSuffix(ending) }

  private mutating func compress(_ index: Int, at time: Timestamp) throws {
    let path = rotated[index]
    guard !Self.isCompressed(path) else { return }
    let content = try Array(Data(contentsOf: URL(filePath: path)))
    try Data(ZstdFrame.raw(content)).write(to: URL(filePath: path + Self.ending))
    // Like gzip and zstd do.
    if let modified = try FileStatus(path)?.modified.timespec {
      utimensat(AT_FDCWD, path + Self.ending, [modified, modified], 0)
    }
    disk.renamed(path + Self.ending, at: time)
    try File.remove(path)
    rotated[index] = path + Self.ending
  }

  /// Changes a byte in the middle, in place.
  func rewrite(at time: Timestamp, _ random: inout SeededGenerator) throws {
    guard var content = FileManager.default.contents(atPath: path), content.count > 200 else {
      return
    }
    // Change only the padding at the end of a line, so that lines can still be identified.
    guard let end = content[..<(content.count / 2)].lastIndex(of: 0x0a) else { return }
    content[end - 1] = UInt8.random(in: 0x61...0x7a, using: &random)
    let file = try Descriptor(opening: path, [.write])
    try Array(content).withUnsafeBytes { try file.write($0) }
    disk.changed(path, at: time)
  }
}

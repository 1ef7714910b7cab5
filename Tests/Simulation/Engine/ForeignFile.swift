import Foundation
import Platform
import TestSupport

/// Another program's logs, and their rotations.
struct ForeignFile {
  /// A line, unique in its world.
  typealias Line = [UInt8]

  /// The path of the current log.
  let path: String
  private let disk: Disk
  private var rotations = 0

  init(_ path: String, _ disk: Disk) throws {
    (self.path, self.disk) = (path, disk)
    try FileManager.default.createDirectory(
      atPath: (path as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
  }

  private var url: URL { URL(filePath: path) }

  /// Its length in bytes; 0 when it is missing.
  var length: Int { get throws { try FileStatus(path).map { Int($0.length) } ?? 0 } }

  /// Appends lines.
  func append(_ lines: [Line], at time: Timestamp) throws {
    let bytes = Array(lines.joined())
    let file = try Descriptor(opening: path, [.write, .create, .append])
    try bytes.withUnsafeBytes { try file.write($0) }
    disk.changed(path, at: time)
  }

  /// Rotates the log.
  mutating func rotate(_ rotation: Action.Rotation, at time: Timestamp) throws {
    guard File.exists(path) else { return }
    let oldest = rotations
    rotations += 1
    // Like logrotate: .1 becomes .2, and so on; four are kept.
    for number in stride(from: min(4, oldest), to: 0, by: -1) {
      for ending in ["", ".zst"] {
        let name = "\(path).\(number)\(ending)"
        guard File.exists(name) else { continue }
        if number == 4 {
          try File.remove(name)
        } else {
          try File.rename(name, to: "\(path).\(number + 1)\(ending)")
          disk.changed("\(path).\(number + 1)\(ending)", at: time)
        }
      }
    }
    let old = "\(path).1"
    switch rotation {
    case .create:
      try File.rename(path, to: old)
      try append([], at: time)
    case .copyTruncate:
      try Data(contentsOf: url).write(to: URL(filePath: old))
      truncate(path, 0)
      disk.changed(path, at: time)
    case .compress:
      try File.rename(path, to: old)
      try append([], at: time)
      let content = try Array(Data(contentsOf: URL(filePath: old)))
      try Data(ZstdFrame.raw(content)).write(to: URL(filePath: old + ".zst"))
      disk.changed(old + ".zst", at: time)
      try File.remove(old)
    }
    if File.exists(old) { disk.changed(old, at: time) }
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

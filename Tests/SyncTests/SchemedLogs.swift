import Foundation
import Platform
import TestSupport

/// When files changed, by inode number, as passes see it.
final class FileTimes: FileEffects {
  private let times = Guarded<[UInt64: (modified: FileTime, changed: FileTime)]>([:])

  func perform(_ effect: FileEffect, _ body: () -> Int) -> Int { body() }
  func random() -> UInt64 { .random(in: 0 ... .max) }

  func status(_ status: FileStatus) -> FileStatus {
    guard let time = times.withLock({ $0[status.inode] }) else { return ShiftedTime.shown(status) }
    return FileStatus(
      kind: status.kind, device: status.device, inode: status.inode, length: status.length,
      owner: status.owner, modified: time.modified, changed: time.changed)
  }

  /// When the content of the file at a path changed.
  func modified(_ path: String) -> FileTime? {
    Self.inode(path).flatMap { inode in times.withLock { $0[inode]?.modified } }
  }

  /// Records a change.
  ///
  /// - Parameter modified: when the content changed; nil if it did not.
  func record(_ path: String, at now: FileTime, modified: FileTime?) {
    guard let inode = Self.inode(path) else { return }
    times.withLock { $0[inode] = (modified ?? $0[inode]?.modified ?? now, now) }
  }

  private static func inode(_ path: String) -> UInt64? {
    var status = stat()
    return lstat(path, &status) == 0 ? UInt64(status.st_ino) : nil
  }
}

/// Logs that are written and rotated by a scheme between passes, with times of the test's clock.
final class SchemedLogs {
  let times = FileTimes()
  private let scheme: RotationScheme
  private let folder: String
  private let clock: TestClock
  /// Number of lines written to all logs, which share one numbering.
  private(set) var lines = 0
  private var rotations = 0
  private var steps: Int64 = 0
  /// Logs whose last rotated file no pass has seen.
  private var unseen: Set<String> = []

  /// - Parameter folder: where the logs are.
  init(_ scheme: RotationScheme, in folder: String, clock: TestClock) {
    (self.scheme, self.folder, self.clock) = (scheme, folder, clock)
  }

  // MARK: Programs

  /// Appends lines to a log, after its heading if it is empty.
  func write(_ count: Int, to name: String) throws {
    let path = path(name)
    var text = (try contents(path)).isEmpty ? scheme.heading : ""
    for _ in 0..<count {
      text += AttachedFolder.line(lines)
      lines += 1
    }
    try append(text, to: path)
  }

  /// Makes an empty log.
  func create(_ name: String) throws { try append("", to: path(name)) }

  /// Records that a pass has looked at all files.
  func wereSeen() { unseen = [] }

  // MARK: Rotation

  /// Rotates a log, unless that would write over lines that no pass has seen.
  func rotate(_ name: String) throws {
    let log = path(name)
    guard exists(log), scheme.naming != .fixed || unseen.insert(name).inserted else { return }
    rotations += 1
    let target = try makeRoom(for: name)
    switch scheme.move {
    case .rename:
      try rename(log, to: target)
      try append("", to: log)
    case .copyTruncate:
      // An existing file is written over, and keeps its number.
      try write(contents(log), to: target)
      try write([], to: log)
    }
    if scheme.compression == .atOnce { try compress(target) }
  }

  /// Moves earlier files out of the way.
  ///
  /// - Returns: the path of the next rotated file.
  private func makeRoom(for name: String) throws -> String {
    let log = path(name)
    func numbered(_ number: Int) -> String {
      scheme.naming == .numbered
        ? "\(log).\(number)" : path("\(name.dropLast(".log".count)).\(number).log")
    }
    switch scheme.naming {
    case .fixed: return log + ".old"
    case .dated:
      func dated(_ number: Int) -> String { "\(log)-\(2_026_010_100 + number)" }
      if scheme.compression == .delayed, let last = (0..<rotations).map(dated).last(where: exists) {
        try compress(last)
      }
      return dated(rotations)
    case .numbered, .beforeEnding:
      if scheme.compression == .delayed, exists(numbered(1)) { try compress(numbered(1)) }
      for number in stride(from: 20, to: 0, by: -1) {
        for ending in ["", ".zst"] where exists(numbered(number) + ending) {
          try rename(numbered(number) + ending, to: numbered(number + 1) + ending)
        }
      }
      return numbered(1)
    }
  }

  private func compress(_ path: String) throws {
    try write(ZstdFrame.raw(contents(path)), to: path + ".zst", modified: times.modified(path))
    try FileManager.default.removeItem(atPath: path)
    record(folder)
  }

  // MARK: Files

  private func path(_ name: String) -> String { "\(folder)/\(name)" }

  private func exists(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }

  private func contents(_ path: String) throws -> [UInt8] {
    exists(path) ? Array(try Data(contentsOf: URL(filePath: path))) : []
  }

  private func append(_ text: String, to path: String) throws {
    let isNew = !exists(path)
    if isNew { try Data().write(to: URL(filePath: path)) }
    let handle = try FileHandle(forWritingTo: URL(filePath: path))
    try handle.seekToEnd()
    try handle.write(contentsOf: Data(text.utf8))
    try handle.close()
    record(path, modified: time())
    if isNew { record(folder) }
  }

  /// Writes over a file in place.
  private func write(_ bytes: [UInt8], to path: String, modified: FileTime? = nil) throws {
    if !exists(path) {
      try Data().write(to: URL(filePath: path))
      record(folder)
    }
    let handle = try FileHandle(forWritingTo: URL(filePath: path))
    try handle.truncate(atOffset: 0)
    try handle.write(contentsOf: Data(bytes))
    try handle.close()
    record(path, modified: modified ?? time())
  }

  private func rename(_ path: String, to target: String) throws {
    try? FileManager.default.removeItem(atPath: target)
    try FileManager.default.moveItem(atPath: path, toPath: target)
    record(target)
    record(folder)
  }

  private func time() -> FileTime {
    steps += 1
    return FileTime(nanoseconds: FileTime(clock.now()).nanoseconds + steps)
  }

  /// Gives a file the clock's time.
  ///
  /// - Parameter modified: when its content changed; nil if it did not.
  private func record(_ path: String, modified: FileTime? = nil) {
    let now = time()
    times.record(path, at: now, modified: path == folder ? now : modified)
  }
}

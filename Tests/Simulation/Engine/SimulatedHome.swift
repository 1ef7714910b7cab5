import Foundation
import Platform
import Redaction
import Replica
import SessionLog
import Sync
import TestSupport

/// A home, its machine, and its running processes.
final class SimulatedHome {
  /// A session that is being recorded.
  struct Recorder {
    let writer: SessionWriter
    let process: SimulatedProcess
  }

  let number: Int
  private let habits: LogHabits
  private let folder: String
  let machine: SimulatedMachine
  let disk: Disk
  let home: Home
  var consent = Consent.logs
  var rules = RedactionRules()
  /// How long local copies stay.
  var retention = Retention().local
  var recorders: [Recorder] = []
  var files: [ForeignFile] = []
  /// Whether there is a backup.
  var hasBackup = false
  /// Whether every command fails in it.
  private(set) var isObstructed = false
  private var lock: HomeLock?

  /// - Parameters:
  ///   - folder: contains everything of this home.
  ///   - disk: the machine's disk.
  init(
    _ number: Int, _ habits: LogHabits, in folder: String, machine: SimulatedMachine, disk: Disk
  ) throws {
    (self.number, self.habits) = (number, habits)
    self.folder = folder
    self.machine = machine
    self.disk = disk
    home = Home(path: folder + "/home").compressing(with: SegmentCompression())
    try Directory.make(mirror)
    files = try (0..<2).map { try ForeignFile("\(folder)/logs/app\($0).log", habits, disk) }
  }

  /// Takes over the configuration of another home.
  func configure(like other: SimulatedHome) {
    (consent, rules, retention) = (other.consent, other.rules, other.retention)
  }

  /// The target folder of `pull`.
  var mirror: String { folder + "/mirror" }
  /// The folder of other programs' logs.
  var logs: String { folder + "/logs" }
  /// The logs that the configuration attaches.
  var pattern: String { habits.pattern(in: logs) }
  private var backup: String { folder + ".backup" }

  /// Makes a backup of the home, with its time.
  func backUp() throws {
    try? FileManager.default.removeItem(atPath: backup)
    guard File.exists(home.path) else { return }
    try Self.copy(home.path, to: backup)
    hasBackup = true
  }

  /// Restores the home from its backup.
  func rollBack() throws {
    guard hasBackup else { return }
    try FileManager.default.removeItem(atPath: home.path)
    try Self.copy(backup, to: home.path)
    // Changes of the files that were there are not undone by a power failure.
    disk.settle()
  }

  /// Copies a folder with the times of its files.
  static func copy(_ folder: String, to target: String) throws {
    try FileManager.default.createDirectory(atPath: target, withIntermediateDirectories: true)
    for name in try Directory.names(in: folder).sorted() {
      let (from, to) = ("\(folder)/\(name)", "\(target)/\(name)")
      guard let status = try FileStatus(from) else { continue }
      if status.kind == .directory {
        try copy(from, to: to)
      } else {
        try Data(contentsOf: URL(filePath: from)).write(to: URL(filePath: to))
        utimensat(AT_FDCWD, to, [status.modified.timespec, status.modified.timespec], 0)
      }
    }
  }

  /// Ends all processes, as a power failure or a restart does.
  func endProcesses() {
    for recorder in recorders { end(recorder) }
    recorders = []
  }

  /// Kills a recorder.
  func end(_ recorder: Recorder) {
    recorder.process.die()
    machine.endProcess(recorder.process.machine.processId)
  }

  /// Makes every command fail from now on.
  func obstruct(byLocking isLocked: Bool) throws {
    guard !isObstructed, File.exists(home.path) else { return }
    isObstructed = true
    guard !isLocked else { return lock = try HomeLock.acquire(home) }
    try File.remove(home.devicePath)
    try Directory.make(home.devicePath)
  }

  /// Deletes a part of the home.
  ///
  /// - Returns: the path of the rotated part that was lost; nil for everything else.
  func lose(_ part: Action.Part, _ random: inout SeededGenerator) throws -> String? {
    guard !isObstructed else { return nil }
    switch part {
    case .device: try File.remove(home.devicePath)
    case .cache: try Self.empty(home.cachePath)
    case .open: try Self.empty(home.openPath)
    case .lived: try File.remove(home.livedPath)
    case .stores: try File.remove(home.path + "/stores.json")
    case .sidecar:
      let sessions = try home.sessions()
      guard let session = sessions.randomElement(using: &random) else { return nil }
      let path = home.files(for: session).sidecar
      guard File.exists(path) else { return nil }
      if Bool.random(using: &random) {
        try File.remove(path)
      } else {
        truncate(path, 0)
        disk.changed(path, at: machine.now)
      }
    case .uploadState:
      guard
        let path = try sessionFiles(where: { $0.hasSuffix(".redaction") })
          .randomElement(using: &random)
      else { return nil }
      try File.remove(path)
    case .rules: try Self.empty(home.rulesPath)
    case .part:
      guard let path = try sessionFiles(where: Self.isPart).randomElement(using: &random)
      else { return nil }
      try Directory.make(aside)
      try File.rename(path, to: "\(aside)/\(path.lastPart)")
      return path
    }
    return nil
  }

  /// Moves back the parts that were lost.
  func putBack() throws {
    for name in try Directory.names(in: aside).sorted() {
      guard let session = SessionID(String(name.prefix(25))) else { continue }
      let path = "\(home.files(for: session).directory)/\(name)"
      guard !File.exists(path), File.exists(home.files(for: session).directory) else { continue }
      try File.rename("\(aside)/\(name)", to: path)
    }
  }

  /// Changes a letter in the middle of a recorded, sealed log, or cuts it there.
  ///
  /// - Returns: the session; nil if there is none.
  func edit(_ number: Int, isCut: Bool, knownTo oracle: Oracle) throws -> SessionID? {
    let sealed = try home.sessions().filter { session in
      oracle.written(session) != nil
        && (try? Sidecar.load(home.files(for: session).sidecar))?.seal != nil
        && File.exists(home.files(for: session).log)
    }
    guard !sealed.isEmpty else { return nil }
    let session = sealed[number % sealed.count]
    let path = home.files(for: session).log
    var content = try AtomicFile.read(path)
    guard
      let place = content[(content.count / 2)...].firstIndex(where: { (0x61...0x7a).contains($0) })
    else { return nil }
    if isCut {
      truncate(path, off_t(place))
    } else {
      content[place] = content[place] == 0x61 ? 0x62 : 0x61
      let file = try Descriptor(opening: path, [.write])
      try content.withUnsafeBytes { try file.write($0) }
    }
    disk.changed(path, at: machine.now)
    return session
  }

  private var aside: String { folder + "/aside" }

  /// The files of all sessions that have certain names.
  private func sessionFiles(where isWanted: (String) -> Bool) throws -> [String] {
    try home.days().flatMap { day in
      try Directory.names(in: "\(home.sessionsPath)/\(day)").filter(isWanted).sorted()
        .map { "\(home.sessionsPath)/\(day)/\($0)" }
    }
  }

  /// Whether a file is a rotated part of a log: its name has an offset.
  private static func isPart(_ name: String) -> Bool {
    name.contains(".log") && name.split(separator: ".").dropFirst().first?.first?.isNumber == true
  }

  private static func empty(_ folder: String) throws {
    for name in try Directory.names(in: folder) { try File.remove("\(folder)/\(name)") }
  }
}

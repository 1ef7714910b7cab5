import Foundation
import Platform
import Replica
import SessionLog
import TestSupport

/// Logs of other programs.
extension World {
  func append(
    _ count: Int, to file: Int, of home: SimulatedHome, _ random: inout SeededGenerator
  ) throws {
    let now = home.machine.now
    let index = file % home.files.count
    guard try home.files[index].length < Self.longestLog else { return }
    try home.files[index].append((0..<count).map { _ in line(now, &random) }, at: now)
  }

  func appendLate(
    _ count: Int, to file: Int, of home: SimulatedHome, _ random: inout SeededGenerator
  ) throws {
    let now = home.machine.now
    let file = home.files[file % home.files.count]
    guard let late = file.late else { return }
    try file.appendLate((0..<count).map { _ in line(now, &random) }, at: now)
    try retireUnattached(late, of: file, home)
  }

  func rotate(_ file: Int, of home: SimulatedHome, _ rotation: Action.Rotation) throws {
    let index = file % home.files.count
    try retireUnattached(
      home.files[index].path, of: home.files[index], home, isCopied: rotation == .copyTruncate)
    try home.files[index].rotate(rotation, at: home.machine.now)
  }

  /// Lines that leave the names of a pattern are sent if their log is known, and was written to since
  /// it was attached.
  private func retireUnattached(
    _ path: String, of file: ForeignFile, _ home: SimulatedHome, isCopied: Bool = false
  ) throws {
    guard !habits.attachesRotated, let status = try FileStatus(path) else { return }
    let sessions = try home.home.sessions()
    // What is copied now is dated by the present clock.
    let modified = isCopied ? min(status.modifiedAt, home.machine.now) : status.modifiedAt
    let isKnown = sessions.contains { session in
      guard session.startedAt <= modified,
        let source = try? Sidecar.load(home.home.files(for: session).sidecar).source
      else { return false }
      // A folder of rotated logs is searched once a known log was found there.
      return source.path.hasPrefix(habits.hasOldFolder ? file.rotatedPath : file.path)
    }
    if !isKnown { oracle.retire(LineNumber.all(in: try AtomicFile.read(path))) }
  }

  /// Counts rotated logs as unknown that no pattern matches: what a home knew of their logs may be lost.
  func retireRotated(of home: SimulatedHome) throws {
    guard !habits.attachesRotated else { return }
    for path in try ForeignFile.paths(in: home.logs) where !path.hasSuffix(".log") {
      oracle.retire(LineNumber.all(in: try AtomicFile.read(path)))
    }
  }
}

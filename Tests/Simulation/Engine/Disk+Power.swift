import Foundation
import Platform
import TestSupport

/// Simulates power failures.
extension Disk {
  /// Undoes a part of what is not durable: the latest changes of names, and ends of files.
  func cutPower(_ random: inout SeededGenerator) {
    let (names, files) = settle()
    // A journalling file system keeps the order of names.
    let kept = Int.random(in: 0...names.count, using: &random)
    for (_, file) in files.sorted(by: { $0.value.path < $1.value.path }) {
      lose(file, &random)
    }
    for change in names[kept...].reversed() { take(back: change.undo) }
  }

  /// Makes everything durable.
  ///
  /// - Returns: the changes of names and the files that were not.
  @discardableResult
  func settle() -> (names: [NameChange], files: [UInt64: Unsynced]) {
    state.withLock { state in
      defer { (state.names, state.files) = ([], [:]) }
      return (state.names, state.files)
    }
  }

  func lose(_ file: Unsynced, _ random: inout SeededGenerator) {
    guard let status = try? FileStatus(file.path), status.kind == .file else { return }
    switch Int.random(in: 0..<3, using: &random) {
    case 0: return
    case 1 where file.before != nil:
      try? Data(file.before ?? []).write(to: URL(filePath: file.path))
    default:
      let length = Int(status.length)
      guard length > file.length else { return }
      truncate(file.path, off_t(Int.random(in: file.length...length, using: &random)))
    }
    let time = status.modified.timespec
    utimensat(AT_FDCWD, file.path, [time, time], 0)
  }

  func take(back undo: Undo) {
    switch undo {
    case .nothing: break
    case .remove(let path): try? File.remove(path)
    case .restore(let path, let saved): linkat(AT_FDCWD, saved, AT_FDCWD, path, 0)
    case .rename(let path, let former, let overwritten):
      try? File.rename(path, to: former)
      if let overwritten { linkat(AT_FDCWD, overwritten, AT_FDCWD, path, 0) }
    }
  }
}

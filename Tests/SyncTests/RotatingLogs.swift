import Foundation
import Platform
import TestSupport

/// Logs that programs write and logrotate rotates while a pass reads them.
///
/// A step of either occurs, at random, whenever the pass requests a file's status or changes a
/// file. A pass may die at any of its changes.
final class RotatingLogs: FileEffects {
  /// One step of a rotation.
  private enum Step {
    case rename(String, to: String)
    case compress(String)
    case remove(String)
    case create(String)
    /// The program continues in the new log.
    case reopen(String)
  }

  private struct State {
    var random: SeededGenerator
    var steps: [Step] = []
    /// The path to which each program writes, by its log.
    var writers: [String: String]
    var lines = 0
    var rotations = 0
    /// Number of changes of files until the pass dies; nil for no limit.
    var left: Int?
    var isQuiet = true
    /// When files last changed, by inode number.
    var changes: [UInt64: FileTime] = [:]
    var changeCount: Int64 = 0
  }

  private let folder: String
  private let clock: TestClock
  private let state: Guarded<State>

  init(_ names: [String], in folder: String, clock: TestClock, case number: Int) {
    (self.folder, self.clock) = (folder, clock)
    let paths = names.map { "\(folder)/\($0)" }
    state = Guarded(
      State(
        random: SeededGenerator(case: number),
        writers: Dictionary(uniqueKeysWithValues: zip(paths, paths))))
    state.withLock { state in
      for path in paths.sorted() { append(to: path, &state) }
    }
  }

  /// Number of lines written to all logs, which share one numbering.
  var lines: Int { state.withLock(\.lines) }

  /// Resumes programs and rotations.
  ///
  /// - Parameter lifetime: number of changes of files until the pass dies; nil for no limit.
  func begin(lifetime: Int?) { state.withLock { ($0.isQuiet, $0.left) = (false, lifetime) } }

  /// Ends the rotation in progress, and all writing.
  func settle() {
    state.withLock { state in
      (state.isQuiet, state.left) = (true, nil)
      while !state.steps.isEmpty { rotate(&state) }
    }
  }

  /// Suspends everything between two passes, except what is in progress.
  func pause() { state.withLock { ($0.isQuiet, $0.left) = (true, nil) } }

  // MARK: Effects

  func perform(_ effect: FileEffect, _ body: () -> Int) -> Int {
    let isAlive = state.withLock { state in
      goOn(&state)
      guard let left = state.left else { return true }
      state.left = left - 1
      return left > 0
    }
    return isAlive ? body() : -Int(EIO)
  }

  func random() -> UInt64 { state.withLock { $0.random.next() } }

  func status(_ status: FileStatus) -> FileStatus {
    state.withLock { state in
      goOn(&state)
      guard let changed = state.changes[status.inode] else { return ShiftedTime.shown(status) }
      return FileStatus(
        kind: status.kind, device: status.device, inode: status.inode, length: status.length,
        owner: status.owner, modified: changed, changed: changed)
    }
  }

  // MARK: Programs and rotations

  private func goOn(_ state: inout State) {
    guard !state.isQuiet else { return }
    switch Int.random(in: 0..<20, using: &state.random) {
    case 0:
      let writers = state.writers.values.sorted()
      if let path = writers.randomElement(using: &state.random) { append(to: path, &state) }
    case 1...2:
      if state.steps.isEmpty { begin(&state) } else { rotate(&state) }
    default: break
    }
  }

  private func append(to path: String, _ state: inout State) {
    let file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o644)
    defer { close(file) }
    for _ in 0..<Int.random(in: 1...40, using: &state.random) {
      let line = Array(AttachedFolder.line(state.lines).utf8)
      precondition(write(file, line, line.count) == line.count)
      state.lines += 1
    }
    record(path, &state)
  }

  /// Begins logrotate's steps for one log, with `create` or `create compress delaycompress`.
  private func begin(_ state: inout State) {
    guard state.rotations < 12,
      let log = state.writers.keys.sorted().randomElement(
        using: &state.random)
    else { return }
    state.rotations += 1
    let isCompressing = log.hasSuffix("0.log")
    let first = "\(log).1"
    if isCompressing, Self.exists(first) { state.steps += [.compress(first), .remove(first)] }
    for number in stride(from: 12, to: 0, by: -1) {
      for ending in ["", ".zst"] {
        state.steps.append(
          .rename("\(log).\(number)\(ending)", to: "\(log).\(number + 1)\(ending)"))
      }
    }
    state.steps += [.rename(log, to: first), .create(log), .reopen(log)]
    // Missing names need no step.
    state.steps.removeAll { step in
      guard case .rename(let path, _) = step else { return false }
      return !Self.exists(path) && !(isCompressing && path == first + ".zst")
    }
  }

  private func rotate(_ state: inout State) {
    switch state.steps.removeFirst() {
    case .rename(let path, let target):
      guard rename(path, target) == 0 else { return }
      for (log, place) in state.writers where place == path { state.writers[log] = target }
      record(target, &state)
    case .compress(let path):
      let content = FileManager.default.contents(atPath: path).map { Array($0) } ?? []
      try? Data(ZstdFrame.raw(content)).write(to: URL(filePath: path + ".zst"))
      record(path + ".zst", &state)
    case .remove(let path):
      unlink(path)
      record(path, &state)
    case .create(let path):
      try? Data().write(to: URL(filePath: path))
      record(path, &state)
    case .reopen(let log): state.writers[log] = log
    }
  }

  /// Gives a file and its folder the clock's time, a new one each time.
  private func record(_ path: String, _ state: inout State) {
    state.changeCount += 1
    let time = FileTime(
      nanoseconds: FileTime(clock.now()).nanoseconds + state.changeCount % 1_000_000)
    for path in [path, folder] {
      if let inode = Self.inode(path) { state.changes[inode] = time }
    }
  }

  private static func exists(_ path: String) -> Bool { inode(path) != nil }

  private static func inode(_ path: String) -> UInt64? {
    var status = stat()
    return lstat(path, &status) == 0 ? UInt64(status.st_ino) : nil
  }
}

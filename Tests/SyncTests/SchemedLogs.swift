import Foundation
import Platform
import TestSupport

@testable import Sync

/// Logs that programs write and a scheme rotates, between passes and while one runs.
///
/// A step of either occurs, at random, whenever a running pass requests a file's status or changes a file,
/// and a pass may die at any of its changes. Times are those of the test's clock.
final class SchemedLogs: FileEffects {
  /// One step of a rotation.
  private enum Step {
    case rename(String, to: String)
    /// Copies the first half, or the rest, over a file that may exist, and keeps its number.
    case copy(String, to: String, isRest: Bool)
    case truncate(String)
    case create(String)
    /// The program continues in the new log.
    case reopen(String)
    case compress(String)
    case remove(String)
  }

  private struct State {
    var random: SeededGenerator
    var steps: [Step] = []
    /// The path to which each program writes, by its log.
    var writers: [String: String] = [:]
    var lines = 0
    var rotations = 0
    /// Logs whose last rotated file no pass has certainly seen.
    var unseen: Set<String> = []
    /// Names of logs that a session reads, with more than a heading.
    var begun: Set<String> = []
    /// Whether programs and rotations are at work while a pass runs.
    var isBusy = false
    /// Names of logs that were rotated while it runs.
    var rotated: Set<String> = []
    /// Number of changes of files until the pass dies; nil for no limit.
    var left: Int?
    /// When files changed, by inode number.
    var times: [UInt64: (modified: FileTime, changed: FileTime)] = [:]
    var timeCount: Int64 = 0
    var history: [String] = []
  }

  private let scheme: RotationScheme
  private let folder: String
  private let clock: TestClock
  private let state: Guarded<State>

  /// - Parameter folder: where the logs are.
  init(_ scheme: RotationScheme, in folder: String, clock: TestClock, case number: Int) {
    (self.scheme, self.folder, self.clock) = (scheme, folder, clock)
    state = Guarded(State(random: SeededGenerator(case: -1 - number)))
  }

  /// Number of lines written to all logs, which share one numbering.
  var lines: Int { state.withLock(\.lines) }

  /// What happened, to be read when a test fails.
  var history: String { state.withLock { $0.history.joined(separator: "\n") } }

  /// Records a step in the history.
  func note(_ step: String) { state.withLock { note(step, &$0) } }

  // MARK: Passes

  /// Begins a pass.
  ///
  /// - Parameters:
  ///   - isBusy: whether programs and rotations are at work meanwhile.
  ///   - lifetime: number of changes of files until the pass dies; nil for no limit.
  func begin(isBusy: Bool, lifetime: Int?) {
    state.withLock { ($0.isBusy, $0.rotated, $0.left) = (isBusy, [], lifetime) }
  }

  /// Ends a pass; a copy that was begun meanwhile is completed.
  ///
  /// - Parameters:
  ///   - isUploaded: whether the pass uploads what it finds.
  ///   - known: the paths of files that a session reads.
  func end(isUploaded: Bool, known: () throws -> [String]) rethrows {
    let isWhole = state.withLock { state in
      let isWhole = isUploaded && !state.isBusy && state.left == nil
      (state.isBusy, state.left) = (false, nil)
      while state.steps.contains(where: { if case .truncate = $0 { true } else { false } }) {
        rotate(&state)
      }
      return isWhole && state.steps.isEmpty
    }
    guard isWhole else { return }
    // A heading alone does not identify a log.
    let known = try known().map { String(AttachedFile.name(of: $0)) }
      .filter { length(path($0)) > scheme.heading.utf8.count }
    state.withLock { state in
      state.unseen = []
      state.begun.formUnion(known)
    }
  }

  /// Completes the rotation in progress.
  func settle() {
    state.withLock { state in while !state.steps.isEmpty { rotate(&state) } }
  }

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
      guard let time = state.times[status.inode] else { return ShiftedTime.shown(status) }
      return FileStatus(
        kind: status.kind, device: status.device, inode: status.inode, length: status.length,
        owner: status.owner, modified: time.modified, changed: time.changed)
    }
  }

  private func goOn(_ state: inout State) {
    guard state.isBusy else { return }
    switch Int.random(in: 0..<40, using: &state.random) {
    case 0:
      let count = Int.random(in: 1...40, using: &state.random)
      if let name = scheme.names.randomElement(using: &state.random) {
        write(count, to: name, &state)
      }
    case 1...4:
      if !state.steps.isEmpty {
        rotate(&state)
      } else if Bool.random(using: &state.random) {
        begin(&state)
      }
    default: break
    }
  }

  // MARK: Programs

  /// Appends lines to a log, after its heading if it is empty.
  func write(_ count: Int, to name: String) { state.withLock { write(count, to: name, &$0) } }

  private func write(_ count: Int, to name: String, _ state: inout State) {
    let log = path(name)
    // What is written between copy and truncation is lost to anybody.
    let isCopied = state.steps.contains { if case .truncate(log) = $0 { true } else { false } }
    guard !isCopied else { return }
    let target = state.writers[log] ?? log
    var text = length(target) == 0 ? scheme.heading : ""
    for _ in 0..<count {
      text += AttachedFolder.line(state.lines)
      state.lines += 1
    }
    append(Array(text.utf8), to: target, &state)
    state.writers[log] = target
    note("write lines \(state.lines - count)..<\(state.lines) to \(name)", &state)
  }

  /// Makes an empty log.
  func create(_ name: String) {
    state.withLock { state in
      append([], to: path(name), &state)
      note("create \(name)", &state)
    }
  }

  // MARK: Rotation

  /// Rotates a log, or completes the rotation in progress.
  func rotate(_ name: String) {
    state.withLock { state in
      if state.steps.isEmpty { begin(name, &state) }
      while !state.steps.isEmpty { rotate(&state) }
    }
  }

  /// Begins to rotate a log, once while a pass runs.
  private func begin(_ state: inout State) {
    guard state.rotations < 20, let name = scheme.names.randomElement(using: &state.random),
      state.rotated.insert(name).inserted
    else { return }
    begin(name, &state)
  }

  /// Begins a rotation, unless that would write over lines that no pass has seen, or move a log, of which
  /// no pass has seen more than a heading, to where no pattern leads.
  private func begin(_ name: String, _ state: inout State) {
    let log = path(name)
    guard Self.exists(log), !scheme.isOldAside || state.begun.contains(name),
      scheme.naming != .fixed || state.unseen.insert(name).inserted
    else { return }
    state.rotations += 1
    note("rotate \(name)", &state)
    if scheme.isOldAside, !Self.exists("\(folder)/old") {
      mkdir("\(folder)/old", 0o755)
      recordFolders(of: ["\(folder)/old"], &state)
    }
    let target = makeRoom(for: name, &state)
    switch scheme.move {
    case .rename: state.steps += [.rename(log, to: target), .create(log), .reopen(log)]
    case .copyTruncate:
      state.steps += [
        .copy(log, to: target, isRest: false), .copy(log, to: target, isRest: true), .truncate(log),
      ]
    }
    if scheme.compression == .atOnce { state.steps += [.compress(target), .remove(target)] }
  }

  /// Adds the steps that move earlier files out of the way.
  ///
  /// - Returns: the path of the next rotated file.
  private func makeRoom(for name: String, _ state: inout State) -> String {
    let rotated = scheme.isOldAside ? path("old/\(name)") : path(name)
    func numbered(_ number: Int) -> String {
      scheme.naming == .numbered
        ? "\(rotated).\(number)" : "\(rotated.dropLast(".log".count)).\(number).log"
    }
    func dated(_ number: Int) -> String { "\(rotated)-\(2_026_010_100 + number)" }
    let last: String?
    switch scheme.naming {
    case .fixed: return rotated + ".old"
    case .dated: last = (0..<state.rotations).map(dated).last(where: Self.exists)
    case .numbered, .beforeEnding: last = Self.exists(numbered(1)) ? numbered(1) : nil
    }
    let isCompressing = scheme.compression == .delayed
    if isCompressing, let last { state.steps += [.compress(last), .remove(last)] }
    guard scheme.naming != .dated else { return dated(state.rotations) }
    for number in stride(from: 25, to: 0, by: -1) {
      for ending in ["", ".zst"] {
        let path = numbered(number) + ending
        let isMade = isCompressing && number == 1 && !ending.isEmpty && last != nil
        let isRemoved = isCompressing && number == 1 && ending.isEmpty
        guard Self.exists(path) && !isRemoved || isMade else { continue }
        state.steps.append(.rename(path, to: numbered(number + 1) + ending))
      }
    }
    return numbered(1)
  }

  private func rotate(_ state: inout State) {
    switch state.steps.removeFirst() {
    case .rename(let path, let target):
      forget(target, &state)
      precondition(rename(path, target) == 0)
      for (log, place) in state.writers where place == path { state.writers[log] = target }
      record(target, &state)
      recordFolders(of: [path, target], &state)
    case .copy(let path, let target, let isRest):
      let content = Self.content(path)
      let half = content.count / 2
      if isRest {
        append(Array(content[half...]), to: target, &state)
      } else {
        replace(target, Array(content[..<half]), &state)
      }
    case .truncate(let path): replace(path, [], &state)
    case .create(let path): append([], to: path, &state)
    case .reopen(let log): state.writers[log] = log
    case .compress(let path):
      let modified = Self.inode(path).flatMap { state.times[$0]?.modified }
      replace(path + ".zst", ZstdFrame.raw(Self.content(path)), modified: modified, &state)
    case .remove(let path):
      forget(path, &state)
      unlink(path)
      recordFolders(of: [path], &state)
    }
  }

  // MARK: Files

  private func note(_ step: String, _ state: inout State) {
    state.history.append("\(clock.now().milliseconds / 1000 % 1_000_000) \(step)")
  }

  private func path(_ name: String) -> String { "\(folder)/\(name)" }

  private func append(_ bytes: [UInt8], to path: String, _ state: inout State) {
    put(bytes, in: path, mode: "a", &state)
  }

  /// Writes over a file in place.
  ///
  /// - Parameter modified: when the content changed; by default now.
  private func replace(
    _ path: String, _ bytes: [UInt8], modified: FileTime? = nil, _ state: inout State
  ) {
    put(bytes, in: path, mode: "w", modified: modified, &state)
  }

  private func put(
    _ bytes: [UInt8], in path: String, mode: String, modified: FileTime? = nil,
    _ state: inout State
  ) {
    let isNew = !Self.exists(path)
    guard let file = fopen(path, mode) else { preconditionFailure("cannot write \(path)") }
    precondition(fwrite(bytes, 1, bytes.count, file) == bytes.count && fclose(file) == 0)
    let now = time(&state)
    record(path, modified: modified ?? now, &state)
    if isNew { recordFolders(of: [path], &state) }
  }

  private func time(_ state: inout State) -> FileTime {
    state.timeCount += 1
    return FileTime(nanoseconds: FileTime(clock.now()).nanoseconds + state.timeCount % 1_000_000)
  }

  /// Gives a file the clock's time.
  ///
  /// - Parameter modified: when its content changed; nil if it did not.
  private func record(_ path: String, modified: FileTime? = nil, _ state: inout State) {
    guard let inode = Self.inode(path) else { return }
    let now = time(&state)
    state.times[inode] = (modified ?? state.times[inode]?.modified ?? now, now)
  }

  private func recordFolders(of paths: [String], _ state: inout State) {
    for folder in Set(paths.map(AttachedFile.folder)).sorted() {
      record(folder, modified: time(&state), &state)
    }
  }

  /// Forgets a file's times before it is removed: its number is used again.
  private func forget(_ path: String, _ state: inout State) {
    if let inode = Self.inode(path) { state.times[inode] = nil }
  }

  private static func content(_ path: String) -> [UInt8] {
    FileManager.default.contents(atPath: path).map { Array($0) } ?? []
  }

  private static func exists(_ path: String) -> Bool { inode(path) != nil }

  private static func inode(_ path: String) -> UInt64? { status(path).map { UInt64($0.st_ino) } }

  private func length(_ path: String) -> Int { Self.status(path).map { Int($0.st_size) } ?? 0 }

  private static func status(_ path: String) -> stat? {
    var status = stat()
    return lstat(path, &status) == 0 ? status : nil
  }
}

import Foundation
import Platform
import TestSupport

/// A machine's disk: gives files simulated times and inode numbers, and knows what a power failure
/// undoes.
final class Disk: Sendable {
  /// A change of names that is not durable yet, and how to undo it.
  struct NameChange {
    let folders: Set<String>
    let undo: Undo
  }

  enum Undo {
    case remove(String)
    case restore(String, from: String)
    case rename(String, to: String, overwritten: String?)
    case nothing
  }

  /// The part of a file that is not durable yet.
  struct Unsynced {
    /// Length of the durable part in bytes.
    var length: Int
    /// The durable content, if more than its end was changed.
    var before: [UInt8]?
    var path: String
  }

  struct State {
    var names: [NameChange] = []
    var files: [UInt64: Unsynced] = [:]
    /// When each file last changed, by its simulated number.
    var changes: [UInt64: Int64] = [:]
    var numbers: [UInt64: UInt64] = [:]
    var counter: Int64 = 0
    var shadows = 0
    /// Bytes that may still be written; nil while there is no limit.
    var room: Int?
    /// Which changes fail, counted since then; nil for none.
    var failing: (every: Int, count: Int)?
  }

  /// The folder that all of the machine's files are in.
  let root: String
  private let shadow: String
  let state = Guarded(State())

  init(root: String) throws {
    self.root = root
    shadow = root + ".shadow"
    for folder in [root, shadow] {
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    }
  }

  // MARK: Effects

  /// Makes a change, and records what a power failure would undo.
  func perform(_ effect: FileEffect, at time: Timestamp, _ body: () -> Int) -> Int {
    guard !isFailing() else { return -Int(EIO) }
    guard takeRoom(for: effect) else { return -Int(SystemError.Number.full) }
    let freed = isShort ? Self.freed(by: effect) : 0
    let result = change(effect, at: time, body)
    if freed > 0, result >= 0 { state.withLock { $0.room = $0.room.map { $0 + freed } } }
    return result
  }

  private func change(_ effect: FileEffect, at time: Timestamp, _ body: () -> Int) -> Int {
    switch effect.kind {
    case .open(let mode): open(effect.path, mode, time, body)
    case .write, .truncate, .allocate: write(effect, time, body)
    case .synchronize: synchronize(effect, body)
    case .synchronizeNames: synchronizeNames(effect.path, body)
    case .rename(let target): rename(effect.path, target, time, body)
    case .link(let target): record(target, .remove(target), time, body)
    case .remove: remove(effect.path, body)
    case .makeDirectory: record(effect.path, .nothing, nil, body)
    case .removeDirectory, .setMode, .setModified, .transaction: body()
    }
  }

  private func open(
    _ path: String, _ mode: Descriptor.Mode, _ time: Timestamp, _ body: () -> Int
  ) -> Int {
    let before = Self.inode(path)
    if before != nil, !mode.isDisjoint(with: .empty) { keep(path) }
    let result = body()
    guard result >= 0, before == nil || !mode.isDisjoint(with: .empty) else { return result }
    set(Int32(result), time)
    guard before == nil else { return result }
    state.withLock { $0.names.append(.init(folders: [Self.folder(path)], undo: .remove(path))) }
    record(Int32(result), path, length: 0)
    return result
  }

  private func write(_ effect: FileEffect, _ time: Timestamp, _ body: () -> Int) -> Int {
    guard let number = effect.number else { return body() }
    var status = stat()
    guard fstat(number, &status) == 0 else { return body() }
    let isAtEnd =
      fcntl(number, F_GETFL) & O_APPEND != 0 || lseek(number, 0, SEEK_CUR) >= status.st_size
    if case .write = effect.kind, isAtEnd {
      record(number, effect.path, length: Int(status.st_size))
    } else {
      keep(effect.path)
    }
    let result = body()
    if result >= 0 { set(number, time) }
    return result
  }

  private func synchronize(_ effect: FileEffect, _ body: () -> Int) -> Int {
    let result = body()
    var status = stat()
    if result >= 0, let number = effect.number, fstat(number, &status) == 0 {
      state.withLock { _ = $0.files.removeValue(forKey: UInt64(status.st_ino)) }
    }
    return result
  }

  private func synchronizeNames(_ folder: String, _ body: () -> Int) -> Int {
    let result = body()
    if result >= 0 { state.withLock { $0.names.removeAll { $0.folders.contains(folder) } } }
    return result
  }

  private func rename(
    _ path: String, _ target: String, _ time: Timestamp, _ body: () -> Int
  ) -> Int {
    let saved = Self.inode(target) == nil ? nil : save(target)
    let moved = Self.inode(path)
    let result = body()
    guard result >= 0 else { return result }
    state.withLock { state in
      state.names.append(
        .init(
          folders: [Self.folder(path), Self.folder(target)],
          undo: .rename(target, to: path, overwritten: saved)))
      if let moved {
        state.files[moved]?.path = target
        state.counter += 1
        state.changes[moved] = time.milliseconds * 1_000_000 + state.counter % 1_000_000
      }
    }
    return result
  }

  private func remove(_ path: String, _ body: () -> Int) -> Int {
    let saved = Self.inode(path) == nil ? nil : save(path)
    let result = body()
    if result >= 0, let saved {
      state.withLock {
        $0.names.append(
          .init(folders: [Self.folder(path)], undo: .restore(path, from: saved)))
      }
    }
    return result
  }

  private func record(_ path: String, _ undo: Undo, _ time: Timestamp?, _ body: () -> Int) -> Int {
    let result = body()
    if result >= 0 {
      state.withLock { $0.names.append(.init(folders: [Self.folder(path)], undo: undo)) }
    }
    return result
  }

  private func save(_ path: String) -> String {
    let saved = state.withLock { state in
      state.shadows += 1
      return "\(shadow)/\(state.shadows)"
    }
    link(path, saved)
    return saved
  }

  private func record(_ number: Int32, _ path: String, length: Int) {
    var status = stat()
    guard fstat(number, &status) == 0 else { return }
    state.withLock { state in
      guard state.files[UInt64(status.st_ino)] == nil else { return }
      state.files[UInt64(status.st_ino)] = Unsynced(length: length, before: nil, path: path)
    }
  }

  private func keep(_ path: String) {
    guard let inode = Self.inode(path) else { return }
    let content = FileManager.default.contents(atPath: path).map { Array($0) } ?? []
    state.withLock { state in
      guard state.files[inode]?.before == nil else { return }
      let known = state.files[inode]?.length
      state.files[inode] = Unsynced(
        length: known ?? content.count, before: known.map { Array(content.prefix($0)) } ?? content,
        path: path)
    }
  }

  // MARK: Times and numbers

  private func set(_ number: Int32, _ time: Timestamp) {
    let time = FileTime(time)
    futimens(number, [time.timespec, time.timespec])
    var status = stat()
    guard fstat(number, &status) == 0 else { return }
    state.withLock { state in
      state.counter += 1
      state.changes[UInt64(status.st_ino)] = time.nanoseconds + state.counter % 1_000_000
    }
  }

  /// Records a change of a file by another program.
  func changed(_ path: String, at time: Timestamp) {
    let time = FileTime(time)
    utimensat(AT_FDCWD, path, [time.timespec, time.timespec], 0)
    recordChange(of: path, at: time)
  }

  /// Records that another program renamed or compressed a file: its content is as old as before.
  func renamed(_ path: String, at time: Timestamp) { recordChange(of: path, at: FileTime(time)) }

  private func recordChange(of path: String, at time: FileTime) {
    guard let inode = Self.inode(path) else { return }
    state.withLock { state in
      state.counter += 1
      state.changes[inode] = time.nanoseconds + state.counter % 1_000_000
    }
  }

  /// The simulated status of a file.
  func status(_ status: FileStatus) -> FileStatus {
    state.withLock { state in
      let number = state.numbers[status.inode] ?? UInt64(state.numbers.count + 1)
      state.numbers[status.inode] = number
      return FileStatus(
        kind: status.kind, device: 1, inode: number, length: status.length, owner: status.owner,
        modified: status.modified,
        changed: state.changes[status.inode].map(FileTime.init(nanoseconds:)) ?? status.modified)
    }
  }

  static func inode(_ path: String) -> UInt64? {
    var status = stat()
    guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
    return UInt64(status.st_ino)
  }

  static func folder(_ path: String) -> String {
    path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "/"
  }
}

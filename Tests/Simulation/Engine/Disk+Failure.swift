import Platform

/// Simulates full and failing disks.
extension Disk {
  /// Whether room is limited.
  var isShort: Bool { state.withLock { $0.room != nil } }

  /// Lets other programs fill the disk up to so many bytes.
  func limitRoom(to bytes: Int) { state.withLock { $0.room = bytes } }

  /// Lets one in so many changes fail.
  func fail(every changes: Int) { state.withLock { $0.failing = (changes, 0) } }

  /// Ends both.
  func recover() { state.withLock { ($0.room, $0.failing) = (nil, nil) } }

  /// Whether the next change fails.
  func isFailing() -> Bool {
    state.withLock { state in
      guard let failing = state.failing else { return false }
      state.failing = (failing.every, failing.count + 1)
      return (failing.count + 1) % failing.every == 0
    }
  }

  /// Room that a database needs for a change, in bytes.
  private static let page = 4096

  /// Takes the room that a change needs.
  ///
  /// - Returns: false if there is not enough.
  func takeRoom(for effect: FileEffect) -> Bool {
    state.withLock { state in
      guard let room = state.room else { return true }
      switch effect.kind {
      case .write(let count):
        guard count <= room else { return false }
        state.room = room - count
      case .allocate(let count):
        guard count <= Int64(room) else { return false }
        state.room = room - Int(count)
      case .open(let mode):
        return room > 0 || mode.isDisjoint(with: [.create, .new]) || File.exists(effect.path)
      case .makeDirectory: return room > 0 || File.exists(effect.path)
      case .transaction: return room >= Self.page || effect.path == ":memory:"
      default: break
      }
      return true
    }
  }

  /// Bytes that a change frees if it succeeds.
  static func freed(by effect: FileEffect) -> Int {
    func length(_ path: String) -> Int {
      guard let status = try? FileStatus(path), status.kind == .file else { return 0 }
      return Int(status.length)
    }
    return switch effect.kind {
    case .remove: length(effect.path)
    case .truncate(let rest): max(0, length(effect.path) - Int(rest))
    case .rename(let target): length(target)
    default: 0
    }
  }
}
